import { backgroundTimer } from '../../../core/call/lifetime.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { LocalData } from '../data/local_data.js';

/**
 * A tab that shows no sign of life for this time loses the leadership. Another one looks up to 250 ms later, so it
 * takes over within 5 seconds.
 */
export const LEADERSHIP_MS = 4500;
/** It is renewed this often. */
const RENEWAL_MS = 1000;
/** The longest pause after the end of another tab's leadership. */
const TAKEOVER_PAUSE = 250;

export interface LeadershipParts {
  readonly data: LocalData;
  /** Called when this tab has begun to lead, and when it has ceased. */
  readonly onChange: (isLeader: boolean) => void;
  /** Called if another tab or process has changed the local data since the last sign of life. */
  readonly onOthers: () => void;
  readonly report: (error: unknown) => void;
}

/**
 * The right to send and to follow the remote, which one tab has at a time. It is a record of the local storage,
 * because a tab that the browser has frozen keeps its Web Locks, and Node has none.
 */
export class Leadership {
  readonly holder = newEventId();
  readonly #parts: LeadershipParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWanted = false;
  #isLeader = false;
  #beating: Promise<void> | undefined;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Whether this tab leads, or will lead as soon as no other tab does. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Leads from now on, or as soon as no other tab does. Checks at once whether one does. */
  want(): Promise<void> {
    if (this.#isLeader) return Promise.resolve();
    this.#isWanted = true;
    clearTimeout(this.#timer);
    return this.#checkOnce();
  }

  #checkOnce(): Promise<void> {
    return (this.#beating ??= this.#beat().finally(() => (this.#beating = undefined)));
  }

  async #beat(): Promise<void> {
    const { data, report } = this.#parts;
    let pause = RENEWAL_MS;
    try {
      const { isLeader, wait } = await data.write((transaction) => {
        const { holder, until } = transaction.owner.leader ?? { holder: '', until: 0 };
        const now = Date.now();
        // A clock that was set back must not keep the leadership for longer.
        const isFree = holder === this.holder || until <= now || until > now + LEADERSHIP_MS;
        if (isFree) transaction.setLeader({ holder: this.holder, until: now + LEADERSHIP_MS });
        return { isLeader: isFree, wait: Math.max(0, until - now) };
      });
      if (!isLeader) pause = wait + TAKEOVER_PAUSE * (0.5 + Math.random() / 2);
      if (data.takeOthers()) this.#parts.onOthers();
      this.#set(isLeader);
    } catch (error) {
      // New data begin with a call of the program, which then wants to lead.
      if (isSessionError(error, 'aborted')) this.#isWanted = false;
      // Without the record, nothing can be sent either. The next beat tells more.
      else report(error);
    }
    if (!this.#isWanted) return;
    this.#timer = backgroundTimer(() => void this.#checkOnce(), pause);
  }

  #set(isLeader: boolean): void {
    if (this.#isLeader === isLeader) return;
    this.#isLeader = isLeader;
    this.#parts.onChange(isLeader);
  }

  /** Notes that another tab has taken the leadership. */
  lose(): void {
    this.#set(false);
    clearTimeout(this.#timer);
    if (this.#isWanted) void this.want();
  }

  /** Leads no more, without a change of the record. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#timer);
    await this.#beating;
    clearTimeout(this.#timer);
    this.#isLeader = false;
  }

  /** Lets another tab lead at once. @returns whether this tab has led */
  async release(): Promise<boolean> {
    this.#isWanted = false;
    await this.#beating;
    const hasLed = this.#isLeader;
    await this.stop();
    if (!hasLed) return false;
    await this.#parts.data.write((transaction) => {
      if (transaction.owner.leader?.holder === this.holder) transaction.setLeader(undefined);
    });
    return true;
  }
}
