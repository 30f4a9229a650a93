import type { Report } from '../state/run_status.js';
import { errorToTell, toldError } from '../state/run_status.js';
import { type RunChannel, type RunMessage, runChannelOf } from './run_channel.js';
import type { RunLock } from './run_lock.js';

/** Milliseconds between two messages about a run that streams. */
const MESSAGE_MS = 150;

/** What other tabs ask of the runs of this tab, and tell it. */
export interface TabRequests {
  /** Called with the run of another tab as it is now; `undefined` if none runs. */
  told(report: Report | undefined): void;
  stop(messageId: string): void;
  /** Called when other tabs are to be told the run under way and its drafts. */
  tellNow(): void;
}

/**
 * The other tabs, as a feed of the runs of one session. A lock that a tab holds means that it runs an agent, also before
 * it has told of its run. If the lock is free, and no end was told, that tab is gone.
 */
export class OtherTabs {
  readonly #session: string;
  readonly #channel: RunChannel | undefined;
  readonly #lock: RunLock;
  readonly #requests: TabRequests;
  /** The last run that another tab has told; absent if this tab has run an agent since. */
  told: Report | undefined;
  /** Whether another tab runs an agent, and has not told of it. */
  #isHeld = false;
  #isRunningHere = false;
  #users = 0;
  #stopListening: (() => void) | undefined;
  #waiting: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param channelName the channel of the database; `undefined` if no other tab has it */
  constructor(
    session: string,
    channelName: string | undefined,
    lock: RunLock,
    requests: TabRequests,
  ) {
    this.#session = session;
    this.#channel = channelName === undefined ? undefined : runChannelOf(channelName);
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
    if (this.#users === 1 && this.#channel !== undefined) void this.#find();
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
    const told = errorToTell(error);
    this.#channel?.send({
      type: 'run',
      session: this.#session,
      ...run,
      ...(told && { error: told }),
    });
  }

  /** Tells the run a little later. */
  tellSoon(): void {
    if (this.#channel === undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isRunningHere) this.#requests.tellNow();
    }, MESSAGE_MS);
  }

  askToStop(messageId: string): void {
    this.#channel?.send({ type: 'cancel', session: this.#session, messageId });
  }

  #listen(): () => void {
    this.#users += 1;
    this.#stopListening ??= this.#channel?.listen(this.#session, {
      receive: (message) => this.#receive(message),
      missed: () => void this.#find(),
    });
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
      this.#waiting?.abort();
      this.#waiting = undefined;
    };
  }

  async #find(): Promise<void> {
    this.#channel?.send({ type: 'ask', session: this.#session });
    if (!(await this.#lock.isHeld()) || this.#isRunningHere || this.isRunning) return;
    this.#isHeld = true;
    this.#awaitRelease();
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
      this.told = { messageId, invocationId, status, drafts, wholes, error };
      this.#isHeld = false;
      if (status === 'running') this.#awaitRelease();
      this.#requests.told(this.told);
    }
  }

  #awaitRelease(): void {
    if (this.#waiting !== undefined || !this.#lock.isShared) return;
    const waiting = (this.#waiting = new AbortController());
    this.#lock.onRelease(() => {
      if (this.#waiting !== waiting) return;
      this.#waiting = undefined;
      if (!this.isRunning) return;
      this.#isHeld = false;
      this.told = undefined;
      this.#requests.told(undefined);
      // The next tab may have begun.
      void this.#find();
    }, waiting.signal);
  }
}
