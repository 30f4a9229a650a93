import { isEqualJson } from '../../json/equal.js';
import type { Part } from '../../model/event/content.js';
import { isAnswer } from '../../model/event/answer.js';
import type { Event } from '../../model/event/event.js';
import { partsOf } from '../../model/event/parts.js';

/** The answers that are being streamed. Each draft is an event with the pieces that have come so far. */
export class Drafts {
  /** The drafts. The array stays the same until a draft changes. */
  events: readonly Event[] = [];
  /** The half of a surrogate pair at the end of a draft, where it shows U+FFFD. The next piece may have the other half. */
  readonly #halves = new WeakMap<Event, string>();

  /** Adds a piece of a streamed answer. All pieces of one author in one invocation belong to one draft. */
  add(piece: Event): void {
    const draft = this.events.find((draft) => isOfSameAnswer(draft, piece));
    const added = partsOf(piece);
    const { parts, half } = joinParts(partsOf(draft), added, draft && this.#halves.get(draft));
    const content = { ...draft?.content, ...piece.content, parts };
    // The id stays, so that a view keeps its element.
    const grown = { ...draft, ...piece, id: draft?.id ?? piece.id, content };
    if (half !== '') this.#halves.set(grown, half);
    this.events = draft
      ? this.events.map((other) => (other === draft ? grown : other))
      : [...this.events, grown];
  }

  /** Drops the drafts that do not belong to the event's invocation. */
  keepInvocation({ invocationId }: Event): void {
    this.#keep((draft) => draft.invocationId === invocationId);
  }

  /** Drops the draft that a whole event replaces. */
  replace(event: Event): void {
    this.#keep((draft) => !isOfSameAnswer(draft, event));
  }

  /**
   * Drops the draft of an answer that was read for the first time, or that was replaced. An answer that is already
   * shown has ended its own draft before. So a remaining draft belongs to a later answer.
   *
   * @param shownOf returns the event with an id as it is shown; `undefined` if it is not shown
   */
  end(event: Event, shownOf: (eventId: string) => Event | undefined): void {
    if (this.events.length === 0 || !isAnswer(event)) return;
    const shown = shownOf(event.id);
    if (shown && isEqualJson(shown.content, event.content)) return;
    this.replace(event);
  }

  /** Drops the drafts of undone invocations. */
  dropUndone(undone: { has(invocationId: string): boolean }): void {
    this.#keep(({ invocationId }) => !undone.has(invocationId));
  }

  clear(): void {
    this.#keep(() => false);
  }

  #keep(stays: (draft: Event) => boolean): void {
    if (!this.events.every(stays)) this.events = this.events.filter(stays);
  }
}

function isOfSameAnswer(draft: Event, event: Event): boolean {
  return (['invocationId', 'author', 'branch'] as const).every(
    (member) => draft[member] === event[member],
  );
}

/**
 * Joins the texts of pieces.
 *
 * @param half the half of a surrogate pair that the end of the last text stands for
 */
function joinParts(
  parts: readonly Part[],
  added: readonly Part[],
  half = '',
): { parts: Part[]; half: string } {
  const joined = [...parts];
  for (const part of added) {
    const last = joined.at(-1);
    if (part.text === undefined) {
      joined.push(part);
      half = '';
    } else if (last?.text === undefined || last.thought !== part.thought) {
      joined.push({ ...part, text: wellFormed(part.text) });
      half = halfAtEnd(part.text);
    } else {
      const text = half + part.text;
      const before = half === '' ? last.text : last.text.slice(0, -1);
      joined[joined.length - 1] = { ...last, ...part, text: before + wellFormed(text) };
      half = halfAtEnd(text);
    }
  }
  return { parts: joined, half };
}

/** Replaces halves of surrogate pairs by U+FFFD. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

function halfAtEnd(text: string): string {
  return /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
}
