import type { Event } from '../../model/event/event.js';
import type { Part } from '../../model/event/content.js';

/**
 * Returns the drafts with a piece of a streamed answer. The pieces of an author in an invocation grow one draft. Drafts
 * of other invocations end.
 */
export function withPiece(drafts: readonly Event[], piece: Event): readonly Event[] {
  const current = drafts.filter(({ invocationId }) => invocationId === piece.invocationId);
  const position = current.findIndex((draft) => isOfSameAnswer(draft, piece));
  const draft = current[position];
  if (draft === undefined) return [...current, piece];
  const parts = joinParts(partsOf(draft), partsOf(piece));
  const content = { ...draft.content, ...piece.content, parts };
  // The id stays, so that a view keeps its element.
  current[position] = { ...draft, ...piece, id: draft.id, content };
  return current;
}

/** Returns the drafts without the one that a whole event replaces; the same array if it replaces none. */
export function withoutReplaced(drafts: readonly Event[], event: Event): readonly Event[] {
  const remaining = drafts.filter((draft) => !isOfSameAnswer(draft, event));
  return remaining.length === drafts.length ? drafts : remaining;
}

function isOfSameAnswer(draft: Event, event: Event): boolean {
  return (['invocationId', 'author', 'branch'] as const).every(
    (member) => draft[member] === event[member],
  );
}

/** Returns the parts; none if another program has put something else in their place. */
function partsOf({ content }: Event): readonly Part[] {
  const parts: unknown = content?.parts;
  return Array.isArray(parts) ? (parts as Part[]) : [];
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
