import type { Part } from '../../model/event/content.js';
import type { Event, EventActions } from '../../model/event/event.js';
import { partsOf } from '../../model/event/parts.js';

/** Returns the drafts with a piece of a streamed answer. The pieces of an author in an invocation grow one draft. */
export function withPiece(drafts: readonly Event[], piece: Event): readonly Event[] {
  const draft = drafts.find((draft) => isOfSameAnswer(draft, piece));
  if (draft === undefined) return [...drafts, piece];
  const parts = joinParts(partsOf(draft), partsOf(piece));
  const content = { ...draft.content, ...piece.content, parts };
  // The id stays, so that a view keeps its element.
  const grown = { ...draft, ...piece, id: draft.id, content };
  return drafts.map((other) => (other === draft ? grown : other));
}

/** Returns the drafts of the event's invocation; the same array if there are no others. */
export function ofInvocation(drafts: readonly Event[], { invocationId }: Event): readonly Event[] {
  return keepSome(drafts, (draft) => draft.invocationId === invocationId);
}

/** Returns the drafts without the one that a whole event replaces; the same array if it replaces none. */
export function withoutReplaced(drafts: readonly Event[], event: Event): readonly Event[] {
  return keepSome(drafts, (draft) => !isOfSameAnswer(draft, event));
}

/** Returns the drafts without those of undone invocations; the same array if there are none. */
export function withoutUndone(
  drafts: readonly Event[],
  undone: { has(invocationId: string): boolean },
): readonly Event[] {
  return keepSome(drafts, ({ invocationId }) => !undone.has(invocationId));
}

/**
 * Whether an event is no answer of a model: a changed state alone, or responses of tools. Such an event may be read when
 * the author's next answer has begun, so it ends no draft.
 */
export function isNoAnswer(event: Event): boolean {
  const parts = partsOf(event);
  if (parts.length > 0)
    return parts.every(({ functionResponse }) => functionResponse !== undefined);
  const { stateDelta } = Object(event.actions) as Partial<EventActions>;
  return Object.keys(stateDelta ?? {}).length > 0;
}

function keepSome(drafts: readonly Event[], stays: (draft: Event) => boolean): readonly Event[] {
  return drafts.every(stays) ? drafts : drafts.filter(stays);
}

function isOfSameAnswer(draft: Event, event: Event): boolean {
  return (['invocationId', 'author', 'branch'] as const).every(
    (member) => draft[member] === event[member],
  );
}

function joinParts(parts: readonly Part[], added: readonly Part[]): Part[] {
  const joined = [...parts];
  for (const part of added) {
    const last = joined.at(-1);
    if (last?.text === undefined || part.text === undefined || last.thought !== part.thought) {
      joined.push(part);
    } else {
      joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text };
    }
  }
  return joined;
}
