import type { Event } from '../../values/model/event/event.js';
import type { Draft } from '../../core/run_report.js';
import type { RunAgent } from './agent/run_context.js';
import type { SessionRun } from './state/session_run.js';

/** A message whose turn has come. */
export interface AdmittedMessage {
  readonly message: Event;
  /** Whether it is stored already, in one step with a rewind. */
  readonly isStored: boolean;
  /** The revision at which it was admitted. If the session has another one by now, the message is admitted again. */
  readonly expectedRevision?: number | undefined;
}

/** A message that waits for its run. */
export interface AskedMessage {
  /** The id of the message. If the message is made only when it is admitted, this names its place in the queue. */
  readonly id: string;
  /** The calls that the message answers. */
  readonly callIds: readonly string[];
  /** The agent in the page. Absent: the server's answers. */
  readonly agent: RunAgent | undefined;
  readonly streaming: boolean;
  /** Whether a rewind stores the message. A run is then cancelled first, and the message comes before those that wait. */
  readonly isOfRewind?: boolean;
  /** Called when no other run of the session is under way. */
  readonly admit: () => Promise<AdmittedMessage>;
}

/** The runs of one session, as the stores of this realm share them: of an agent in the page, or of the server's. */
export interface Runs {
  /** The run, as far as it is known without the stored events. `messageId` is empty until the other tab has told it. */
  readonly run: SessionRun | undefined;
  /** The invocation of the run. */
  readonly invocationId: string | undefined;
  readonly isRunning: boolean;
  /** Whether it is known what runs. Until then no message counts as unanswered. Also true after 2 s without a report. */
  readonly isKnown: boolean;
  /** The drafts of the run, or of the last one. */
  readonly drafts: readonly Draft[];
  /** The ids of the whole events of the same run. */
  readonly wholes: readonly string[];
  /** The ids of the calls whose answers wait in the queue or belong to the current run. */
  readonly answeredNow: ReadonlySet<string>;

  /** Calls `listener` after changes, until the returned function is called. */
  follow(listener: () => void): () => void;
  /**
   * Has a message answered when all runs before it have ended.
   *
   * @returns the message, once it is stored
   */
  ask(asked: AskedMessage): Promise<Event>;
  isQueued(messageId: string): boolean;
  /** Resumes the queue, if the message waits in it. Returns whether it does. */
  retry(messageId: string): boolean;
  /** Removes a message from the queue. Returns `false` if it does not wait there. */
  discard(messageId: string): boolean;
  /**
   * Cancels a run, or removes a message from the queue. Seals a stored message that has no run.
   *
   * @param message the newest message, if nobody has answered it
   */
  cancel(messageId: string | undefined, message: Event | undefined): Promise<void>;
  /** Cancels a run, and then does work that changes the history. */
  change<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Empties the queue, because the session is gone. Nothing is sealed. */
  abandon(): void;
}
