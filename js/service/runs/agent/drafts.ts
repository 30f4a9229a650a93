import type { Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { isAnswer } from '../../../values/model/event/final_response.js';
import type { Draft } from '../../../core/run_report.js';
import { partsOf } from '../../../values/model/event/parts.js';

/** The answers that a run streams. */
export class Drafts {
  /** The drafts. The array stays the same until a draft changes. */
  all: readonly Draft[] = [];
  /** The ids of the whole events of the run. Drafts that have not ended come after them. */
  wholes: readonly string[] = [];

  /**
   * Adds a partial event of a streamed answer. All partial events of one author in one invocation belong to one draft
   * until it ends.
   */
  add(partial: Event): void {
    // Partial events of adk api_server have the id of the whole event, and some come after it.
    if (this.wholes.includes(partial.id)) return;
    const draft = this.#openDraftOf(partial);
    const event = draft?.event;
    const parts = joinParts(partsOf(event), partsOf(partial));
    const content = { ...event?.content, ...partial.content, parts };
    const grown = { ...event, ...partial, id: event?.id ?? partial.id, content };
    this.#replace(draft, { event: grown });
  }

  /** Ends the draft that a whole event replaces. */
  end(whole: Event): void {
    this.wholes = [...this.wholes, whole.id];
    const draft = isAnswer(whole) ? this.#openDraftOf(whole) : undefined;
    if (draft !== undefined) this.#replace(draft, { ...draft, endedBy: whole.id });
  }

  /** Ends the draft that a whole event replaces, and shows the event in its place until a store has read it. */
  show(whole: Event): void {
    // The server sends an event with artifacts in two parts, with the same id.
    if (this.wholes.includes(whole.id)) return;
    this.end(whole);
    const draft = this.all.find(({ endedBy }) => endedBy === whole.id);
    const id = draft?.event.id ?? whole.id;
    this.#replace(draft, { event: { ...whole, id }, endedBy: whole.id });
  }

  clear(): void {
    if (this.all.length > 0) this.all = [];
    this.wholes = [];
  }

  #openDraftOf(event: Event): Draft | undefined {
    return this.all.find(
      (draft) => draft.endedBy === undefined && isOfSameAnswer(draft.event, event),
    );
  }

  #replace(draft: Draft | undefined, next: Draft): void {
    const { all } = this;
    this.all = draft ? all.map((other) => (other === draft ? next : other)) : [...all, next];
  }
}

/** Whether an event belongs to the answer that a draft shows. */
export function isOfSameAnswer(draft: Event, event: Event): boolean {
  return (['invocationId', 'author', 'branch'] as const).every(
    (member) => draft[member] === event[member],
  );
}

/**
 * Joins the texts of partial events as they are. A model may end one within a character, and begin the next with the other
 * half of a surrogate pair; until then a page shows U+FFFD by itself.
 */
function joinParts(parts: readonly Part[], added: readonly Part[]): Part[] {
  const joined = [...parts];
  for (const part of added) {
    const last = joined.at(-1);
    if (part.text === undefined || last?.text === undefined || last.thought !== part.thought) {
      joined.push(part);
    } else {
      joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text };
    }
  }
  return joined;
}
