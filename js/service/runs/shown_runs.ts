import { isAnswer } from '../../values/model/event/answer.js';
import type { Event } from '../../values/model/event/event.js';
import { isOfSameAnswer } from './agent/drafts.js';
import {
  type AskedQuestion,
  answeredCalls,
  openQuestions,
  type Question,
} from './state/questions.js';
import type { SessionRun } from './state/session_run.js';
import type { SessionRuns } from './session_runs.js';
import { newestMessage, storedStatus } from './state/stored_status.js';

/** Pages of stored events, in append order. A page that has not changed is the same array. */
type Pages = readonly (readonly Event[])[];

/** What a snapshot shows of the runs of its session. */
export interface ShownRuns {
  readonly run: SessionRun | undefined;
  readonly drafts: readonly Event[];
  readonly questions: readonly Question[];
}

/** The calls of a page that wait for the user, and those that it answers. */
interface PageCalls {
  readonly asked: readonly AskedQuestion[];
  readonly answered: ReadonlySet<string>;
}

/** What one store shows of the runs of a session. A draft is shown until the store shows the event that ends it. */
export class RunView {
  readonly #runs: SessionRuns;
  /** The drafts whose events the store shows, or whose run is over, by id. */
  readonly #hidden = new Set<string>();
  readonly #calls = new WeakMap<readonly Event[], PageCalls>();
  #drafts: readonly Event[] = [];
  #questions: readonly Question[] = [];
  #run: SessionRun | undefined;

  constructor(runs: SessionRuns) {
    this.#runs = runs;
    // A store that begins after a run reads all of its events.
    if (!runs.isRunning) this.end();
  }

  /** Whether a run has ended, but its last events may not have been read. Until then it is shown as running. */
  get isEnding(): boolean {
    const { isRunning, drafts } = this.#runs;
    const hasDrafts = drafts.some(({ event }) => !this.#hidden.has(event.id));
    return !isRunning && (hasDrafts || this.#run?.status === 'running');
  }

  /** Notes that all events of a run that has ended were read. */
  end(): void {
    for (const { event } of this.#runs.drafts) this.#hidden.add(event.id);
    this.#run = undefined;
  }

  /** Notes an event that was read for the first time. It may end a draft before the tab of the run has told so. */
  noteRead(event: Event): void {
    if (!isAnswer(event)) return;
    const { drafts, wholes } = this.#runs;
    const open = wholes.includes(event.id)
      ? undefined
      : drafts.find((draft) => draft.endedBy === undefined && isOfSameAnswer(draft.event, event));
    const draft = drafts.find(({ endedBy }) => endedBy === event.id) ?? open;
    if (draft !== undefined) this.#hidden.add(draft.event.id);
  }

  /**
   * @param pages the stored events
   * @param undone the invocations that a rewind has undone
   */
  show(pages: Pages, undone: { has(invocationId: string): boolean }): ShownRuns {
    const drafts = this.#runs.drafts
      .map(({ event }) => event)
      .filter(({ id, invocationId }) => !this.#hidden.has(id) && !undone.has(invocationId));
    this.#drafts = keep(this.#drafts, drafts, (one, other) => one === other);
    const questions = this.#openQuestions(pages).map(questionOf);
    this.#questions = keep(this.#questions, questions, (one, other) => one.callId === other.callId);
    const run = this.#statusOf(pages);
    if (run?.status !== this.#run?.status || run?.messageId !== this.#run?.messageId)
      this.#run = run;
    return { run: this.#run, drafts: this.#drafts, questions: this.#questions };
  }

  #statusOf(pages: Pages): SessionRun | undefined {
    const { run } = this.#runs;
    const events = fromNewestMessage(pages);
    const newest = newestMessage(events);
    if (run?.messageId === '') return { ...run, messageId: newest?.id ?? '' };
    // The outcome of a run is shown until another message follows, or until a rewind has undone the run.
    if (run === undefined && this.#run?.status === 'running') return this.#run;
    const isOver = run?.status === 'failed' || run?.status === 'cancelled';
    if (run !== undefined && (!isOver || run.messageId === newest?.id)) return run;
    return storedStatus(events);
  }

  #openQuestions(pages: Pages): AskedQuestion[] {
    const { invocationId, answeredNow } = this.#runs;
    const all = pages.map((page) => this.#callsOf(page));
    return all
      .flatMap(({ asked }) => asked)
      .filter(({ callId, invocationId: asked }) => {
        const isAnswered =
          answeredNow.has(callId) || all.some(({ answered }) => answered.has(callId));
        // A call without an answer during its run is running.
        return !isAnswered && asked !== invocationId;
      });
  }

  #callsOf(page: readonly Event[]): PageCalls {
    const known = this.#calls.get(page);
    if (known !== undefined) return known;
    const calls = { asked: openQuestions(page), answered: answeredCalls(page) };
    this.#calls.set(page, calls);
    return calls;
  }
}

/** Returns the last pages, from the one with the newest message on. */
function fromNewestMessage(pages: Pages): readonly Event[] {
  const at = pages.findLastIndex((page) => newestMessage(page) !== undefined);
  return at < 0 ? [] : pages.slice(at).flat();
}

/** Returns `before` if it has the same elements. */
function keep<T>(
  before: readonly T[],
  next: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly T[] {
  const isKept =
    before.length === next.length && next.every((element, at) => isSame(before[at]!, element));
  return isKept ? before : next;
}

/** Returns the newest message, if nobody has answered it. */
export function unansweredMessage(pages: Pages): Event | undefined {
  const events = fromNewestMessage(pages);
  return storedStatus(events)?.status === 'unanswered' ? newestMessage(events) : undefined;
}

/** Returns the public members of a question. */
function questionOf({ callId, kind, name, args, hint }: AskedQuestion): Question {
  return { callId, kind, name, args, ...(hint !== undefined && { hint }) };
}
