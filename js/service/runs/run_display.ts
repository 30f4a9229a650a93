import type { RunUnderWay } from '../../core/history_types.js';
import type { Draft } from '../../core/run_report.js';
import type { Event } from '../../values/model/event/event.js';
import { isAnswer } from '../../values/model/event/final_response.js';
import { isOfSameAnswer } from './agent/drafts.js';
import type { RunAgent } from './agent/run_context.js';
import { type SessionRun, newestMessage, storedStatus } from './agent/run_status.js';
import type { AdmittedMessage } from './agent/run_storage.js';
import { type AskedQuestion, answeredCalls, openQuestions, type Question } from './user_answers.js';

/** A message that waits for its run. */
export interface AskedMessage {
  /** The id of the message. */
  readonly id: string;
  /** The calls that the message answers. */
  readonly callIds: readonly string[];
  /** The agent in the page. Absent: the server's answers. */
  readonly agent: RunAgent | undefined;
  readonly streaming: boolean;
  /** Whether a rewind stores the message. Then it comes before those that wait. */
  readonly isOfRewind: boolean;
  /** Called when its turn has come, and again if the session has changed before the message was stored. */
  readonly admit: () => Promise<AdmittedMessage>;
}

/** The runs of one session, as the stores of this realm share them: of an agent in the page, or of the server's. */
export interface Runs {
  /** The run, as far as it is known without the stored events. `messageId` is empty until the other tab has told it. */
  readonly run: SessionRun | undefined;
  /** The first message of this page that waits. */
  readonly waiting: SessionRun | undefined;
  /** The invocation of the run that is under way. */
  readonly invocationId: string | undefined;
  readonly isRunning: boolean;
  /** The id of the last run's message, if that run has failed. What it streamed stays until the next message. */
  readonly failedMessageId: string | undefined;
  /** Whether it is known what runs. Until then no message counts as unanswered. */
  readonly isKnown: boolean;
  /** The id of the message that another process of the server may be answering. */
  readonly elsewhere: string | undefined;
  /** The drafts of the run, or of the last one. */
  readonly drafts: readonly Draft[];
  /** The ids of the whole events of the same run. */
  readonly wholes: readonly string[];
  /** The ids of the calls whose answers wait in the queue or belong to the current run. */
  readonly answeredNow: ReadonlySet<string>;

  /** Calls `listener` after changes, until the returned function is called. */
  follow(listener: () => void): () => void;
  /**
   * Has a message answered when its turn has come.
   *
   * @returns the message, once it is stored
   * @throws SessionError `aborted` if it is given up before
   */
  ask(asked: AskedMessage): Promise<Event>;
  /** Whether a message waits in the queue. */
  isQueued(messageId: string): boolean;
  /** Resumes the queue, if the message waits in it. Returns whether it does. */
  retry(messageId: string): boolean;
  /**
   * Cancels a run, or removes a message from the queue. Stores the end event of a stored message that has no run.
   *
   * @param unanswered the newest message, if nobody has answered it
   */
  cancel(messageId: string | undefined, unanswered: Event | undefined): Promise<void>;
  /** Returns the run that is under way, for a rewind that undoes it. A server knows its own runs. */
  underWay(): RunUnderWay | undefined;
  /** Ends each run that a rewind has ended, if a cache has given the rewind up, so that the message is back. */
  endUndone(): Promise<void>;
  /** Empties the queue, because the session is gone. No end event is stored. */
  abandon(): void;
}

/** Pages of stored events, in append order. A page that has not changed is the same array. */
export type Pages = readonly (readonly Event[])[];

/** What a snapshot shows of the runs of its session. */
export interface ShownRuns {
  readonly run: SessionRun | undefined;
  readonly drafts: readonly Event[];
  readonly questions: readonly Question[];
}

/** What a store knows of its events. */
export interface KnownEvents {
  /** Whether an event is among them. */
  readonly isStored: (eventId: string) => boolean;
  /** The invocations that a rewind has undone. */
  readonly undone: { has(invocationId: string): boolean };
  /** Whether a cache has a message for its server. */
  readonly isWaiting: (messageId: string) => boolean;
  /** Whether the remote of a cache has refused an event. */
  readonly isRefused: (eventId: string) => boolean;
}

/** The calls of a page that wait for the user, and those that it answers. */
interface ShownFunctionCalls {
  readonly asked: readonly AskedQuestion[];
  readonly answered: ReadonlySet<string>;
}

/** What one store shows of the runs of a session. A draft is shown until the store shows the event that ends it. */
export class RunDisplay {
  readonly #runs: Runs;
  /** The drafts whose events the store shows, or whose run is over, by id. */
  readonly #hidden = new Set<string>();
  /** The drafts that were shown last, and those of earlier runs whose events may not have been read. */
  #seen: readonly Draft[] = [];
  /** The ids of all whole events of the runs so far. */
  readonly #wholes = new Set<string>();
  readonly #calls = new WeakMap<readonly Event[], ShownFunctionCalls>();
  #drafts: readonly Event[] = [];
  #questions: readonly Question[] = [];
  #run: SessionRun | undefined;

  constructor(runs: Runs) {
    this.#runs = runs;
    // A store that begins after a run reads all of its events.
    if (!runs.isRunning) this.end(this.#replacedDrafts(runs.drafts));
  }

  /** Returns the drafts that stored events replace: all but the open ones of a failed run. */
  #replacedDrafts(drafts: readonly Draft[]): readonly Draft[] {
    return drafts.filter((draft) => !this.#isOfFailed(draft));
  }

  /** Whether a draft is an open one of the last run, and that has failed. */
  #isOfFailed(draft: Draft): boolean {
    const { failedMessageId, drafts } = this.#runs;
    return failedMessageId !== undefined && draft.endedBy === undefined && isIn(drafts, draft);
  }

  /**
   * The drafts of runs that have ended, whose last events may not have been read; `undefined` if no run has ended.
   * Until they are read the drafts are shown, and the run is shown as running.
   */
  get ending(): readonly Draft[] | undefined {
    const { isRunning, drafts } = this.#runs;
    const over = this.#shown().filter((draft) => !isRunning || !isIn(drafts, draft));
    const ending = this.#replacedDrafts(over);
    const isOver = ending.length > 0 || (!isRunning && this.#wasRunning);
    return isOver ? ending : undefined;
  }

  /** Whether the run that was shown last has told that it runs. */
  get #wasRunning(): boolean {
    return this.#run?.status === 'running' && this.#run.isElsewhere !== true;
  }

  /** Notes that all events were read that belong to drafts whose run has ended. */
  end(drafts: readonly Draft[]): void {
    for (const { event } of drafts) this.#hidden.add(event.id);
    if (!this.#runs.isRunning) this.#run = undefined;
  }

  /** Returns the drafts that no event has replaced yet. One of an earlier run stays when another run begins. */
  #shown(): readonly Draft[] {
    const { drafts, wholes, isKnown } = this.#runs;
    for (const id of wholes) this.#wholes.add(id);
    // A client whose login has expired shows no draft.
    const left = isKnown ? this.#seen.filter((draft) => !isIn(drafts, draft)) : [];
    return (this.#seen = [...left, ...drafts].filter(({ event }) => !this.#hidden.has(event.id)));
  }

  /** Notes an event that was read for the first time. It may end a draft before the tab of the run has told so. */
  noteRead(event: Event): void {
    if (!isAnswer(event)) return;
    const drafts = this.#shown();
    const open = this.#wholes.has(event.id)
      ? undefined
      : drafts.find((draft) => draft.endedBy === undefined && isOfSameAnswer(draft.event, event));
    const draft = drafts.find(({ endedBy }) => endedBy === event.id) ?? open;
    if (draft !== undefined) this.#hidden.add(draft.event.id);
  }

  /** @param pages the stored events, and what a cache has stored */
  show(pages: Pages, { isStored, undone, isWaiting, isRefused }: KnownEvents): ShownRuns {
    const events = fromNewestMessage(pages, isRefused);
    const newest = newestMessage(events);
    const { failedMessageId } = this.#runs;
    const hasNext = newest !== undefined && newest.id !== failedMessageId;
    const drafts = this.#shown()
      // Another device's message follows a failed run as plain events.
      .filter((draft) => !hasNext || !this.#isOfFailed(draft))
      // The event may have been read before its draft was told, and before it was told that it ends the draft.
      .filter((draft) => !this.#isReplaced(draft, events, isStored))
      .map(({ event }) => event)
      .filter(({ invocationId }) => !undone.has(invocationId));
    this.#drafts = keep(this.#drafts, drafts, (one, other) => one === other);
    const run = this.#statusOf(events, isWaiting);
    // Until the last events of a run are read, a call of it may have an answer.
    if (run?.status !== 'running' || run.isElsewhere === true || this.#runs.isRunning) {
      const questions = this.#openQuestions(pages).map(questionOf);
      this.#questions = keep(
        this.#questions,
        questions,
        (one, other) => one.callId === other.callId,
      );
    }
    const isSame = (['status', 'messageId', 'isPaused', 'isElsewhere'] as const).every(
      (member) => run?.[member] === this.#run?.[member],
    );
    if (!isSame) this.#run = run;
    return { run: this.#run, drafts: this.#drafts, questions: this.#questions };
  }

  /** Whether a store has the event that ends a draft. @param events those from the newest message on */
  #isReplaced(
    { event: draft, endedBy }: Draft,
    events: readonly Event[],
    isStored: KnownEvents['isStored'],
  ): boolean {
    if (endedBy !== undefined) return isStored(endedBy);
    const isUntold = (event: Event): boolean => isAnswer(event) && !this.#wholes.has(event.id);
    return events.some((event) => isOfSameAnswer(draft, event) && isUntold(event));
  }

  /** @param events those from the newest message on */
  #statusOf(events: readonly Event[], isWaiting: KnownEvents['isWaiting']): SessionRun | undefined {
    const { run } = this.#runs;
    const newest = newestMessage(events);
    if (run?.messageId === '') return { ...run, messageId: newest?.id ?? '' };
    // The outcome of a run is shown until another message follows, or until a rewind has undone the run.
    if (run === undefined && this.#runs.isKnown && this.#wasRunning) return this.#run;
    const isOver = run?.status === 'failed' || run?.status === 'cancelled';
    if (run !== undefined && (!isOver || run.messageId === newest?.id)) return run;
    const stored = storedStatus(events);
    // Messages of this page still wait behind a run that is not shown any more.
    if (run?.isPaused === true) {
      return stored ? { ...stored, isPaused: true } : this.#runs.waiting;
    }
    if (stored?.status !== 'unanswered') return stored;
    if (isWaiting(stored.messageId)) return { status: 'queued', messageId: stored.messageId };
    if (!this.#runs.isKnown) return undefined;
    const { messageId } = stored;
    const isElsewhere = this.#runs.elsewhere === messageId;
    return isElsewhere ? { status: 'running', messageId, isElsewhere } : stored;
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

  #callsOf(page: readonly Event[]): ShownFunctionCalls {
    const known = this.#calls.get(page);
    if (known !== undefined) return known;
    const calls = { asked: openQuestions(page), answered: answeredCalls(page) };
    this.#calls.set(page, calls);
    return calls;
  }
}

/** Whether a run has a draft, which may have grown since. */
function isIn(drafts: readonly Draft[], { event }: Draft): boolean {
  return drafts.some((draft) => draft.event.id === event.id);
}

/** Returns the events of the last pages, from the one with the newest message on. What was refused does not count. */
function fromNewestMessage(pages: Pages, isRefused: KnownEvents['isRefused']): readonly Event[] {
  const counted = (page: readonly Event[]): Event[] => page.filter(({ id }) => !isRefused(id));
  const at = pages.findLastIndex((page) => newestMessage(counted(page)) !== undefined);
  return at < 0 ? [] : pages.slice(at).flatMap(counted);
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
export function unansweredMessage(
  pages: Pages,
  isRefused: KnownEvents['isRefused'],
): Event | undefined {
  const events = fromNewestMessage(pages, isRefused);
  return storedStatus(events)?.status === 'unanswered' ? newestMessage(events) : undefined;
}

/** Returns the public members of a question. */
function questionOf({ callId, kind, name, args, hint }: AskedQuestion): Question {
  return { callId, kind, name, args, ...(hint !== undefined && { hint }) };
}
