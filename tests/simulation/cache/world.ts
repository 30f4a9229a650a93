// Time, order and clocks of one schedule. One thread runs everything: a timer is due, its program continues until no
// promise is ready, then the next timer is due. So a schedule always runs alike.

import { createHash } from 'node:crypto';
import { TurnLimit } from '../../../js/core/call/turn_limit.js';
import { Tabs } from '../../../js/stores/cache/tabs/tabs.js';
import { Feed } from '../../../js/core/watch/feed.js';
import { Watcher } from '../../../js/core/watch/watcher.js';
import { Random } from '../run/random.js';

/** The most timers of a schedule. One that needs more never becomes quiet. */
const MOST_TIMERS = 50_000;

/** A program with timers of its own: a tab, or everything outside of the tabs. */
export interface Actor {
  /** Milliseconds by which its clock differs. */
  readonly clockOffset: number;
  /** Its timers never run again. */
  readonly isDead: boolean;
  /** Its timers run no earlier, because the browser has frozen the tab. */
  readonly frozenUntil: number;
}

/** An actor without faults. */
export const OUTSIDE: Actor = { clockOffset: 0, isDead: false, frozenUntil: 0 };

/** Resolves when no promise is ready to continue. */
const drained = ((setImmediate) => (): Promise<void> => new Promise((resolve) => setImmediate(resolve)))(globalThis.setImmediate); // prettier-ignore

export class World {
  now = 0;
  /** The actor whose code runs now. */
  actor: Actor = OUTSIDE;
  /** What has happened. */
  readonly trace: string[] = [];
  /** What is wrong first. */
  problem: string | undefined;
  readonly #timers = new Set<Timer>();
  readonly #restores: (() => void)[] = [];
  #count = 0;

  note(text: string): void {
    this.trace.push(`${String(this.now).padStart(7)} ${text}`);
  }

  fail(problem: string): void {
    if (this.problem === undefined) this.note(`FAILS: ${problem}`);
    this.problem ??= problem;
  }

  /** Replaces clocks, timers and randomness by those of this world. */
  install(): void {
    const random = new Random(1);
    this.#replace(globalThis, {
      setTimeout: (run: () => void, after?: number) => this.#set(run, after),
      clearTimeout: (timer?: Timer) => timer?.clear(),
      setImmediate: (run: () => void) => this.#set(run),
      // A call of a crashed tab never settles, and must not keep this program running.
      setInterval: () => ({ ref: () => undefined, unref: () => undefined }),
    });
    this.#replace(AbortSignal, {
      timeout: (after: number) => {
        const controller = new AbortController();
        this.#set(() => controller.abort(new DOMException('timed out', 'TimeoutError')), after);
        return controller.signal;
      },
    });
    this.#replace(Math, { random: () => random.next() });
    this.#replace(Date, { now: () => 1_700_000_000_000 + this.now + this.actor.clockOffset });
    this.#replace(performance, { now: () => this.now });
    this.#replace(crypto.subtle, {
      // The host's digest is ready after some real time.
      digest: (_: unknown, data: Uint8Array) =>
        Promise.resolve(new Uint8Array(createHash('sha256').update(data).digest()).buffer),
    });
    // Work takes no time here. A turn that begins in a tab would never end if the tab crashed.
    this.#replace(TurnLimit.prototype, { mayBegin: () => true });
    this.#separateTabs();
  }

  uninstall(): void {
    for (const restore of this.#restores.splice(0)) restore();
  }

  #replace(target: object, values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) {
      const before = (target as Record<string, unknown>)[name];
      this.#restores.push(() => void Object.assign(target, { [name]: before }));
      Object.assign(target, { [name]: value });
    }
  }

  /** Tabs in one process share a feed and a channel. Here what they tell reaches another tab a moment later, as by a channel. */
  #separateTabs(): void {
    const actors = new WeakMap<Watcher | Tabs, Actor>();
    const [{ add }, { push }, { listen, receive }] = [Feed.prototype, Watcher.prototype, Tabs.prototype]; // prettier-ignore
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const world = this;
    this.#replace(Feed.prototype, {
      add(this: Feed, watcher: Watcher) {
        actors.set(watcher, world.actor);
        add.call(this, watcher);
      },
    });
    this.#replace(Watcher.prototype, {
      push(this: Watcher, notices: Parameters<typeof push>[0]) {
        world.#tell(actors.get(this), () => push.call(this, notices));
      },
    });
    this.#replace(Tabs.prototype, {
      listen(this: Tabs, listeners: Parameters<typeof listen>[0]) {
        actors.set(this, world.actor);
        return listen.call(this, listeners);
      },
      receive(this: Tabs, message: Parameters<typeof receive>[0]) {
        world.#tell(actors.get(this), () => receive.call(this, message));
      },
    });
  }

  /** Runs what the present actor tells another one, as that one. A crashed one tells and hears nothing. */
  #tell(actor: Actor | undefined, run: () => void): void {
    if (actor === undefined || actor === this.actor) run();
    else if (!this.actor.isDead) this.at(1, actor, run);
  }

  /** Runs code as an actor, and what it awaits, until no promise is ready. */
  async act(actor: Actor, run: () => void): Promise<void> {
    this.actor = actor;
    run();
    await drained();
    this.actor = OUTSIDE;
  }

  /** Runs code as an actor after some milliseconds. */
  at(milliseconds: number, actor: Actor, run: () => void): void {
    this.#set(run, milliseconds, actor);
  }

  /** Resolves as the present actor after some milliseconds. */
  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.#set(resolve, milliseconds));
  }

  /** Lets time pass. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.now + milliseconds;
    await this.until(() => false, milliseconds);
    this.now = end;
  }

  /** Lets time pass until `isDone`. @returns whether it was done within the limit */
  async until(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const end = this.now + limitMs;
    await drained();
    while (!isDone() && (await this.#runNext(end)));
    return isDone();
  }

  async #runNext(end: number): Promise<boolean> {
    this.#count += 1;
    if (this.#count > MOST_TIMERS) throw new Error('it never becomes quiet');
    let first: Timer | undefined;
    let firstAt = Infinity;
    for (const timer of this.#timers) {
      if (timer.actor.isDead) timer.clear();
      const at = Math.max(timer.at, timer.actor.frozenUntil);
      if (at < firstAt && !timer.actor.isDead) [first, firstAt] = [timer, at];
    }
    if (first === undefined || firstAt > end) return false;
    first.clear();
    this.now = Math.max(this.now, firstAt);
    await this.act(first.actor, first.run);
    return true;
  }

  #set(run: () => void, after = 0, actor = this.actor): Timer {
    return new Timer(this.#timers, this.now + Math.max(0, Math.floor(after)), actor, run);
  }
}

/** A timer, and what `setTimeout` returns. */
class Timer {
  constructor(
    readonly timers: Set<Timer>,
    readonly at: number,
    readonly actor: Actor,
    readonly run: () => void,
  ) {
    timers.add(this);
  }

  clear(): void {
    this.timers.delete(this);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}
