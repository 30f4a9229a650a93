import { type RunChannel, runChannelOf } from './run_channel.js';
import type { RunLock } from './run_lock.js';
import type { RunMessage, TabRun } from './run_messages.js';
import type { SessionRun } from '../state/session_run.js';
import { toldError } from '../state/told_error.js';

/** Milliseconds between two messages about a run that streams. */
const MESSAGE_MS = 150;

/** Milliseconds after the release of a run's lock in which the message about its end may still arrive. */
const END_MESSAGE_MS = 500;

/** What other tabs ask of the runs of this tab. */
export interface TabRequests {
  /** Called when another tab has told something. */
  changed(): void;
  cancel(messageId: string): void;
  /** Called when another tab asks for the run under way and its drafts. */
  tellNow(): void;
}

/**
 * Exchanges the runs of one session with the other tabs. Keeps what they have told, and tells them the runs of this
 * tab.
 */
export class OtherTabs {
  readonly #session: string;
  readonly #channel: RunChannel | undefined;
  readonly #lock: RunLock;
  readonly #requests: TabRequests;
  /** The last run that another tab has told. */
  #told: TabRun | undefined;
  /** Whether another tab runs an agent, as its lock says. */
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

  /** The run of another tab. Its ids are empty until that tab has told them. */
  get running(): Pick<TabRun, 'messageId' | 'invocationId'> | undefined {
    if (this.#isRunningHere) return undefined;
    if (this.#told?.status === 'running') return this.#told;
    return this.#isHeld ? { messageId: '', invocationId: '' } : undefined;
  }

  /** The outcome of another tab's last run, if it failed or was cancelled. */
  get last(): SessionRun | undefined {
    const { status, messageId, error } = this.#told ?? {};
    if (messageId === undefined || status === 'running' || status === 'ended') return undefined;
    if (status === 'cancelled') return { status, messageId };
    return { status: 'failed', messageId, error: toldError(error) };
  }

  /** Another tab's last run, with its drafts; absent if this tab has run an agent since. */
  get streamed(): TabRun | undefined {
    return this.#told;
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
    this.#told = undefined;
    this.#isHeld = false;
    const stop = this.#listen();
    return () => {
      this.#isRunningHere = false;
      stop();
    };
  }

  tell(run: TabRun): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#channel?.send({ type: 'run', session: this.#session, ...run });
  }

  /** Tells the drafts a little later. */
  tellSoon(): void {
    if (this.#channel === undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isRunningHere) this.#requests.tellNow();
    }, MESSAGE_MS);
  }

  askToCancel(messageId: string | undefined): void {
    if (messageId === undefined) return;
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
    if (!(await this.#lock.isHeld()) || this.#isRunningHere) return;
    this.#isHeld = true;
    this.#awaitRelease();
    this.#requests.changed();
  }

  #receive(message: RunMessage): void {
    if (message.type === 'ask') {
      if (this.#isRunningHere) this.#requests.tellNow();
    } else if (message.type === 'cancel') this.#requests.cancel(message.messageId);
    else if (!this.#isRunningHere) {
      this.#told = message;
      this.#isHeld = false;
      if (message.status === 'running') this.#awaitRelease();
      this.#requests.changed();
    }
  }

  /** Forgets a run once its lock is free and nobody has told its end: the tab is gone. */
  #awaitRelease(): void {
    if (this.#waiting !== undefined || !this.#lock.isShared) return;
    const waiting = (this.#waiting = new AbortController());
    const forget = (told: TabRun | undefined): void => {
      if (this.#waiting !== waiting) return;
      this.#waiting = undefined;
      this.#isHeld = false;
      if (this.#told === told && told?.status === 'running') this.#told = undefined;
      else if (this.#told?.status === 'running') this.#awaitRelease();
      this.#requests.changed();
    };
    this.#lock.onRelease(() => {
      const told = this.#told;
      setTimeout(() => forget(told), END_MESSAGE_MS);
    }, waiting.signal);
  }
}
