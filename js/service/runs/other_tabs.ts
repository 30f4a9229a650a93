import { type Draft, keptDrafts, type RunReport } from '../../core/run_report.js';
import { isEvent } from '../../core/storage/stored_events.js';
import { tabChannelOf, type TabKind, type TabPort } from '../../core/watch/tab_channel.js';
import type { TabLock } from '../../core/watch/tab_lock.js';
import { isObject } from '../../values/json/rules.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { isId } from '../../values/model/values/ids.js';
import { publicErrorOf } from '../../values/errors/public_error.js';
import { type Report, toldError } from './agent/run_status.js';

/** Milliseconds between two messages about a run that streams. */
const MESSAGE_MS = 150;

/** A run as one tab tells it to the others, with its whole drafts. Its message names the session. */
type TabRun = Omit<RunReport, keyof CompositeSessionKey>;

/** A message about the runs of a session. */
export type RunMessage = { readonly session: string } & (
  | {
      /** Asks the tab that runs an agent to tell it now. */
      readonly type: 'ask';
    }
  | {
      /** Asks the tab that runs an agent to stop. */
      readonly type: 'cancel';
      readonly messageId: string;
    }
  | ({ readonly type: 'run' } & TabRun)
);

const RUN_MESSAGES: TabKind<RunMessage> = {
  name: 'runs',
  merge: newest,
  decode: (value) => (isRunMessage(value) ? value : undefined),
};

/** What other tabs ask of the runs of this tab, and tell it. */
export interface TabRequests {
  /** Called with the run of another tab as it is now; `undefined` if none runs. */
  told(report: Report | undefined): void;
  stop(messageId: string): void;
  /** Called when other tabs are to be told the run under way and its drafts. */
  tellNow(): void;
}

/**
 * The other tabs, as a feed of the runs of one session. A lock that a tab holds means that it runs an agent, also
 * before it has told of its run. If the lock is free, and no end was told, that tab is gone.
 */
export class OtherTabs {
  readonly #session: string;
  readonly #port: TabPort<RunMessage> | undefined;
  readonly #lock: TabLock;
  readonly #requests: TabRequests;
  /** The last run that another tab has told; absent if this tab has run an agent since. */
  told: Report | undefined;
  /** Whether another tab runs an agent, and has not told of it. */
  #isHeld = false;
  #isRunningHere = false;
  #users = 0;
  #waiting: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param channelName the channel of the database; `undefined` if no other tab has it */
  constructor(
    session: string,
    channelName: string | undefined,
    lock: TabLock,
    requests: TabRequests,
  ) {
    this.#session = session;
    if (channelName !== undefined) {
      this.#port = tabChannelOf(channelName).port(RUN_MESSAGES, {
        wants: (message) => message.session === session,
        deliver: (messages) => {
          for (const message of messages) this.#receive(message);
        },
        missed: () => void this.#find(),
      });
    }
    this.#lock = lock;
    this.#requests = requests;
  }

  /** Whether another tab runs an agent, so far as this tab knows. */
  get isRunning(): boolean {
    return !this.#isRunningHere && (this.#isHeld || this.told?.status === 'running');
  }

  /** Finds out whether another tab runs an agent now, and listens until the returned function is called. */
  follow(): () => void {
    const stop = this.#listen();
    if (this.#users === 1 && this.#port !== undefined) void this.#find();
    return stop;
  }

  /** Notes that this tab runs an agent, until the returned function is called. */
  begin(): () => void {
    this.#isRunningHere = true;
    this.told = undefined;
    this.#isHeld = false;
    const stop = this.#listen();
    return () => {
      this.#isRunningHere = false;
      stop();
    };
  }

  tell({ error, ...run }: Report): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const told = error === undefined ? undefined : publicErrorOf(error);
    this.#port?.send([
      {
        type: 'run',
        session: this.#session,
        ...run,
        ...(told && { error: told }),
      },
    ]);
  }

  /** Tells the run a little later. */
  tellSoon(): void {
    if (this.#port === undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isRunningHere) this.#requests.tellNow();
    }, MESSAGE_MS);
  }

  askToStop(messageId: string): void {
    this.#port?.send([{ type: 'cancel', session: this.#session, messageId }]);
  }

  #listen(): () => void {
    this.#users += 1;
    this.#port?.start();
    this.#port?.listen(true);
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      this.#port?.close();
      this.#waiting?.abort();
      this.#waiting = undefined;
    };
  }

  async #find(): Promise<void> {
    this.#port?.send([{ type: 'ask', session: this.#session }]);
    const { told } = this;
    const isHeld = await this.#lock.isHeld();
    // A tab that has told its run meanwhile knows better.
    if (this.#isRunningHere || this.told !== told) return;
    if (!isHeld) {
      // The run that was told before has ended while this tab did not listen.
      if (this.isRunning && this.#lock.isShared) this.#noteReleased();
      return;
    }
    this.#awaitRelease();
    if (this.isRunning) return;
    this.#isHeld = true;
    const untold = { messageId: '', invocationId: '', drafts: [], wholes: [] };
    this.#requests.told({ ...untold, status: 'running' });
  }

  #receive(message: RunMessage): void {
    if (message.type === 'ask') {
      if (this.#isRunningHere) this.#requests.tellNow();
    } else if (message.type === 'cancel') this.#requests.stop(message.messageId);
    else if (!this.#isRunningHere) {
      const { messageId, invocationId, status, drafts, wholes } = message;
      const error = status === 'failed' ? toldError(message.error) : undefined;
      const report = { messageId, invocationId, status, drafts, wholes, error };
      this.told = status === 'running' ? report : { ...report, drafts: keptDrafts(report) };
      this.#isHeld = false;
      if (status === 'running') this.#awaitRelease();
      this.#requests.told(report);
    }
  }

  #awaitRelease(): void {
    if (this.#waiting !== undefined || !this.#lock.isShared) return;
    const waiting = (this.#waiting = new AbortController());
    this.#lock.onRelease(() => {
      if (this.#waiting !== waiting) return;
      this.#waiting = undefined;
      if (!this.isRunning) return;
      this.#noteReleased();
      // The next tab may have begun.
      void this.#find();
    }, waiting.signal);
  }

  #noteReleased(): void {
    this.#isHeld = false;
    this.told = undefined;
    this.#requests.told(undefined);
  }
}

/** Drops a message about a run if a later one about the same run follows: each has the whole drafts. */
function newest(messages: readonly RunMessage[]): readonly RunMessage[] {
  return messages.filter((message, at) => {
    if (message.type !== 'run') return true;
    const { session, messageId } = message;
    const isReplaced = (later: RunMessage): boolean =>
      later.type === 'run' && later.session === session && later.messageId === messageId;
    return !messages.slice(at + 1).some(isReplaced);
  });
}

function isRunMessage(value: unknown): value is RunMessage {
  if (!isObject(value) || typeof value.session !== 'string') return false;
  const { type, messageId, invocationId, status, drafts, wholes } = value;
  if (type === 'ask') return true;
  if (!isId(messageId)) return false;
  if (type === 'cancel') return true;
  const isStatus = ['running', 'ended', 'failed', 'cancelled'].includes(status as string);
  const hasDrafts = Array.isArray(drafts) && drafts.every(isDraft) && Array.isArray(wholes);
  return type === 'run' && isStatus && hasDrafts && typeof invocationId === 'string';
}

function isDraft(value: unknown): value is Draft {
  const event = isObject(value) ? value.event : undefined;
  return isEvent(event) && isId((event as Partial<Event>).id);
}
