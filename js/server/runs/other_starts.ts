/** What a process asks of other starts, and which of those have ended. */
import { backgroundTimer } from '../../core/call/lifetime.js';
import type { ProcessLink } from '../../core/watch/process_link.js';
import { putLast } from '../../values/bounded_map.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { RunAnswer, RunContents } from './run_messages.js';

/** A start that is asked, and sends nothing for so many milliseconds, counts as gone if the channel works. */
const SILENCE_MS = 2000;
/** The most starts that are remembered. */
const MAX_STARTS = 10_000;

/** Another start of a process. */
interface OtherStart {
  /** When it was last heard. */
  readonly heardAt: number;
  /** Whether it has ended. It was only cut off if it is heard again. */
  readonly isGone: boolean;
}

/** A question that waits for its answer. */
interface Question {
  /** The start that has to answer. Absent: none has to. */
  readonly to: string | undefined;
  readonly end: (answer: RunAnswer | undefined) => void;
}

/** Makes a question of its id. */
type NewQuestion = (id: string) => RunContents;

/** The other starts that were heard, and the questions to them. */
export class OtherStarts {
  readonly #link: ProcessLink;
  readonly #send: (question: RunContents) => void;
  readonly #onGone: (start: string) => void;
  readonly #starts = new Map<string, OtherStart>();
  /** By id. */
  readonly #questions = new Map<string, Question>();
  #isClosed = false;

  /** @param onGone called when a start is found to have ended */
  constructor(
    link: ProcessLink,
    send: (question: RunContents) => void,
    onGone: (start: string) => void,
  ) {
    this.#link = link;
    this.#send = send;
    this.#onGone = onGone;
  }

  /** Ends all questions without an answer, and those that follow. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of [...this.#questions.values()]) end(undefined);
  }

  /** Whether a start is known to have ended. */
  isGone(start: string): boolean {
    return this.#starts.get(start)?.isGone === true;
  }

  wasHeard(start: string): boolean {
    return this.#starts.has(start);
  }

  /** Whether a start was not heard for so many milliseconds. */
  isQuiet(start: string, milliseconds: number): boolean {
    const { heardAt = -Infinity } = this.#starts.get(start) ?? {};
    return performance.now() - heardAt >= milliseconds;
  }

  /** Notes that a start was heard. */
  noteHeard(start: string): void {
    this.#put(start, false);
  }

  /** Notes that a start has ended. Nothing that is asked of it waits any more. */
  noteGone(start: string): void {
    this.#put(start, true);
    for (const { to, end } of [...this.#questions.values()]) if (to === start) end(undefined);
    this.#onGone(start);
  }

  #put(start: string, isGone: boolean): void {
    putLast(this.#starts, start, { heardAt: performance.now(), isGone }, MAX_STARTS);
  }

  /**
   * Asks a start, and waits for two seconds at most. A start that says nothing at all in them, and would have been heard,
   * counts as gone. One that has no channel and was never heard is not asked.
   *
   * @param hasChannel whether the start is known to answer on a channel
   * @returns `gone`: the start has ended; `undefined`: it is not known
   */
  async askOne(
    start: string,
    hasChannel: boolean,
    question: NewQuestion,
  ): Promise<RunAnswer | 'gone' | undefined> {
    if (this.isGone(start)) return 'gone';
    if (!hasChannel && !this.#starts.has(start)) return undefined;
    const wouldHear = this.#link.listening();
    const answer = await this.#ask(SILENCE_MS, question, start);
    if (answer !== undefined) return answer;
    // Another question may have found it gone meanwhile.
    if (this.isGone(start)) return 'gone';
    if (!this.isQuiet(start, SILENCE_MS)) return undefined;
    if (!wouldHear(this.#starts.has(start))) return undefined;
    this.noteGone(start);
    return 'gone';
  }

  /**
   * Asks all starts, and waits for the first answer, at most so many milliseconds.
   *
   * @param to the start that has to answer. Nothing waits once it has ended
   */
  askAll(
    limitMs: number,
    to: string | undefined,
    question: NewQuestion,
  ): Promise<RunAnswer | undefined> {
    return this.#ask(limitMs, question, to);
  }

  /** Takes the answer to a question. */
  take(answer: RunAnswer): void {
    this.#questions.get(answer.id)?.end(answer);
  }

  async #ask(
    limitMs: number,
    question: NewQuestion,
    to: string | undefined,
  ): Promise<RunAnswer | undefined> {
    const id = newEventId();
    const answer = new Promise<RunAnswer | undefined>((resolve) => {
      this.#questions.set(id, { to, end: resolve });
      if (limitMs === 0 || this.#isClosed) resolve(undefined);
      else backgroundTimer(() => resolve(undefined), limitMs);
    });
    this.#send(question(id));
    const given = await answer;
    this.#questions.delete(id);
    return given;
  }
}
