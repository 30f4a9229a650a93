import type { Event } from '../../values/model/event/event.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { Draft } from '../../core/run_report.js';
import type { RunAgent } from './agent/run_context.js';
import type { AdmittedMessage } from './agent/run_storage.js';
import type { SessionRun } from './state/run_status.js';

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
  /** Whether it is known what runs. Until then no message counts as unanswered. */
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
   * Cancels a run, or removes a message from the queue. Seals a stored message that has no run.
   *
   * @param unanswered the newest message, if nobody has answered it
   */
  cancel(messageId: string | undefined, unanswered: Event | undefined): Promise<void>;
  /** Returns the run that is under way, for a rewind that undoes it. A server knows its own runs. */
  underWay(): RunUnderWay | undefined;
  /** Seals each run that a rewind has ended, if a cache has given the rewind up, so that the message is back. */
  sealRefused(): Promise<void>;
  /** Empties the queue, because the session is gone. Nothing is sealed. */
  abandon(): void;
}
