import { backgroundTimer } from '../../../core/call/lifetime.js';
import { backoff } from '../../../core/call/scheduling.js';
import type { ServerAgent } from '../../../core/core_of.js';
import type { SessionError } from '../../../values/errors/errors.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { type CacheKey, keyOfName, nameOf } from '../records/cache_key.js';
import {
  isAskedFor,
  isOf,
  isWaiting,
  type Mutation,
  ownRefusalOf,
  type Refusal,
} from '../outbox/mutation.js';
import { isWaitingForRun, retryAfterOf } from '../../http/http_errors.js';
import { errorOf, isOutage, isSignedOut, refusalOfDeleted } from '../records/failures.js';
import type { StatusBoard } from '../records/status.js';
import { LEADERSHIP_LOST } from './claims.js';
import type { Delivery, DeliveryParts } from './delivery.js';
import { RunWaits, Waiters } from './waiters.js';

/** The most sessions that are sent at once. */
const MOST_AT_ONCE = 50;
/** The first and the longest pause after a failure, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** The pause to which a write shortens a longer one, so that writes in quick succession make one attempt. */
const WRITE_PAUSE = 100;
/** The longest pause that a server may ask for. A date in `Retry-After` may be years away by a wrong clock. */
const LONGEST_RETRY_AFTER = 60 * 60 * 1000;

export interface SenderParts extends DeliveryParts {
  readonly delivery: Delivery;
  /** `'through'`: calls that write wait for the remote. */
  readonly write: 'local' | 'through';
  /** The agent of the remote, if it has one. */
  readonly agent: ServerAgent | undefined;
  readonly board: StatusBoard;
  /** Tells the leading tab that a call waits. */
  readonly tellWake: () => void;
  /** Tells the other tabs why this one could not send. */
  readonly tellFailure: (error: unknown) => void;
}

/** What a tab does in a round. `idle`: nothing waits. */
type Role = 'idle' | 'leader' | 'follower';

/** Sends what waits, in the leading tab: sessions in parallel, the mutations of each in their order. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #waiters = new Waiters();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** The names of sessions and states that may have something to send. */
  readonly #queue = new Set<string>();
  /** The names that wait for another one, by the name of that one. */
  readonly #waiting = new Map<string, Set<string>>();
  #round: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a write has shortened the pause. */
  #isShortened = false;
  /** The number of rounds that have begun. */
  #rounds = 0;
  /** The number of rounds that failed, one after the other. */
  #failures = 0;
  /** Why the present round ends. */
  #failure: unknown;
  /** Why one session or state cannot be sent in the present round, by name. Others are sent. */
  readonly #paused = new Map<string, unknown>();
  readonly #runWaits: RunWaits;
  /** Called when another session or state may be sent. */
  #onProgress: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#runWaits = new RunWaits(parts.agent, () => {
      // After a failure nothing is sent before the pause has ended.
      if (this.#timer === undefined) this.wake();
    });
    parts.pending.onChange((name) => {
      this.#enqueue(name);
      this.#waiters.settle();
    });
  }

  /** Starts to send at once, also if it was waiting after a failure. */
  wake(): void {
    if (this.#isClosed) return;
    this.#clearTimer();
    this.#onProgress?.();
    this.#round ??= this.#runRound();
  }

  /** Starts to send mutations that a call has added. With `write: 'through'` it waits until the remote has them. */
  async sendAdded(
    key: CacheKey,
    numbers: readonly number[],
    signal?: HostAbortSignal,
  ): Promise<void> {
    if (numbers.length === 0) return;
    this.wakeForWrite();
    if (this.#parts.write === 'through') await this.confirm(key, numbers, signal);
  }

  /** Starts to send. After a failure, it first waits {@link WRITE_PAUSE} instead of the rest of a longer pause. */
  wakeForWrite(): void {
    if (this.#timer === undefined) return this.wake();
    if (this.#isShortened) return;
    this.wakeLater(WRITE_PAUSE);
    this.#isShortened = true;
  }

  wakeLater(pause: number): void {
    if (this.#isClosed) return;
    this.#clearTimer();
    this.#timer = backgroundTimer(() => this.wake(), pause);
  }

  /**
   * Waits until nothing of these sessions and states is left that can be sent. What waits for the end of a run can be
   * sent after it.
   */
  async waitFor(names: readonly string[], signal?: HostAbortSignal): Promise<void> {
    const { pending } = this.#parts;
    const rest = new Set(names);
    const isDone = (): boolean => {
      for (const name of rest) {
        const next = pending.next(name);
        if (next !== undefined && pending.refusalOf(name, next.number) === undefined) return false;
        rest.delete(name);
      }
      return true;
    };
    if (isDone()) return;
    for (const name of rest) this.#runWaits.end(name);
    this.wake();
    await this.#waiters.wait(isDone, this.#rounds, signal);
  }

  /**
   * Waits until the remote has mutations of a session or state.
   *
   * @throws SessionError why the remote has refused them, or why they cannot be sent now; `aborted`
   */
  async confirm(
    key: CacheKey,
    numbers: readonly number[],
    signal?: HostAbortSignal,
  ): Promise<void> {
    const { pending } = this.#parts;
    const name = nameOf(key);
    const isDone = (): boolean => {
      return numbers.every((number) => {
        const mutation = pending.mutations(name).find((other) => other.number === number);
        if (mutation === undefined || !isWaiting(mutation)) return true;
        const refusal = pending.refusalOf(name, mutation.number);
        if (refusal !== undefined) throw errorOf(refusal);
        return false;
      });
    };
    if (signal?.aborted !== true && isDone()) return;
    this.wake();
    await this.#waiters.wait(isDone, this.#rounds, signal);
  }

  /**
   * Waits until the remote has told whether it has the session of mutations that need one. Rejects if it cannot be
   * asked.
   *
   * @returns why it has refused the session, or that it has none. `undefined`: it has the session
   */
  async confirmSession(
    key: CompositeSessionKey,
    numbers: readonly number[],
    signal?: HostAbortSignal,
  ): Promise<Refusal | undefined> {
    const { pending } = this.#parts;
    const name = nameOf(key);
    const findOwn = () => pending.mutations(name).find(({ number }) => numbers.includes(number));
    const localId = findOwn()?.localId;
    let refusal: Refusal | undefined;
    const isDone = (): boolean => {
      const creation = pending
        .mutations(name)
        .find(
          (each): each is Mutation<'create'> => isOf(each, 'create') && each.localId === localId,
        );
      if (creation === undefined) return true;
      const own = findOwn();
      // It was taken back if the session is now to be created. Otherwise the user has given it up.
      const isTakenBack = own === undefined && !isAskedFor(creation);
      refusal = isTakenBack
        ? refusalOfDeleted(key)
        : ((own && ownRefusalOf(own)) ?? ownRefusalOf(creation));
      return own === undefined || refusal !== undefined;
    };
    this.wake();
    await this.#waiters.wait(isDone, this.#rounds, signal);
    return refusal;
  }

  /** Resolves when the requests that send a session or state have settled. */
  sending(name: string): Promise<void> | undefined {
    return this.#inFlight.get(name);
  }

  /** Called if the leading tab could not send. */
  failed(error: unknown): void {
    this.#waiters.reject(error, this.#rounds + 1);
  }

  /** Ends the sending, after the requests that are under way have settled. Calls that wait get the reason. */
  async close(reason: SessionError): Promise<void> {
    this.#isClosed = true;
    this.#clearTimer();
    this.#runWaits.clear();
    this.#onProgress?.();
    // A tab that does not lead gets no more messages about what the leading tab sends.
    this.#waiters.close(reason);
    await this.#round?.catch(() => undefined);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isShortened = false;
  }

  #hasWork(): boolean {
    return [...this.#queue].some((name) => this.#nextOf(name) !== undefined);
  }

  /** The next mutation of a session or state, unless it waits for the end of a run. */
  #nextOf(name: string): Mutation | undefined {
    const next = this.#parts.pending.next(name);
    return next && this.#runWaits.has(name, next) ? undefined : next;
  }

  /** Returns the session or state that has to be sent before a mutation. */
  #blockerOf(mutation: Mutation): string | undefined {
    return this.#parts.pending.blockerOf(mutation, this.#inFlight, this.#runWaits);
  }

  async #runRound(): Promise<void> {
    const { leadership, board, pending } = this.#parts;
    this.#failure = undefined;
    this.#paused.clear();
    this.#waiting.clear();
    this.#rounds += 1;
    let role: Role = 'idle';
    // Changes that are made in the same moment are sent together.
    await Promise.resolve();
    try {
      for (const name of pending.names()) this.#queue.add(name);
      if (this.#hasWork()) {
        await leadership.want();
        role = leadership.isLeader ? 'leader' : 'follower';
      }
      if (role === 'leader') {
        board.set({ isSending: true });
        await this.#sendAll();
      }
    } catch (error) {
      this.#endRound(error);
    }
    await Promise.all(this.#inFlight.values());
    if (role === 'leader' && board.status.isSending) board.set({ isSending: false });
    // The round decides how it ends and ends in one step. A call of `wake` in between would be lost.
    this.#round = undefined;
    if (this.#decide(role)) this.wake();
  }

  /** Decides at the end of a round what follows. @returns whether the next round begins at once */
  #decide(role: Role): boolean {
    const { leadership, tellWake, tellFailure } = this.#parts;
    const [pauseReason] = this.#paused.values();
    const failure: unknown = this.#failure ?? pauseReason;
    // A change may have come after the last check.
    if (failure === undefined && role !== 'follower' && this.#hasWork()) return true;
    this.#queue.clear();
    // The leading tab sends. It hears of the change.
    if (role === 'follower' && this.#waiters.size > 0) tellWake();
    if (failure === undefined) return false;
    if (failure === LEADERSHIP_LOST) {
      leadership.lose();
      return false;
    }
    if (this.#isClosed) return false;
    tellFailure(failure);
    this.#waiters.reject(failure, this.#rounds);
    if (this.#waiters.size > 0) return true;
    const pause = backoff(this.#failures, FIRST_PAUSE, LONGEST_PAUSE);
    this.#failures += 1;
    this.wakeLater(Math.max(pause, Math.min(retryAfterOf(failure), LONGEST_RETRY_AFTER)));
    return false;
  }

  async #sendAll(): Promise<void> {
    while (!this.#isClosed && this.#failure === undefined && this.#parts.leadership.isLeader) {
      this.#startSome();
      if (this.#inFlight.size === 0) return;
      await new Promise<void>((resolve) => (this.#onProgress = resolve));
    }
  }

  #startSome(): void {
    for (const name of this.#queue) {
      if (this.#inFlight.size >= MOST_AT_ONCE) return;
      if (this.#inFlight.has(name)) continue;
      this.#queue.delete(name);
      const mutation = this.#nextOf(name);
      if (mutation === undefined || this.#paused.has(name)) continue;
      const blocker = this.#blockerOf(mutation);
      if (blocker === undefined) this.#inFlight.set(name, this.#send(name));
      else this.#waiting.set(blocker, (this.#waiting.get(blocker) ?? new Set()).add(name));
    }
  }

  /** Looks at a session or state, and at those that wait for it. */
  #enqueue(name: string): void {
    this.#queue.add(name);
    for (const waiting of this.#waiting.get(name) ?? []) this.#queue.add(waiting);
    this.#waiting.delete(name);
  }

  async #send(name: string): Promise<void> {
    const { delivery, pending } = this.#parts;
    const key = keyOfName(name);
    try {
      await delivery.send(key, (mutation) => {
        if (this.#isClosed || this.#failure !== undefined) return false;
        return this.#blockerOf(mutation) === undefined;
      });
      this.#failures = 0;
      this.#runWaits.delete(name);
    } catch (error) {
      if (isWaitingForRun(error)) {
        const next = pending.next(name);
        if (next !== undefined) this.#runWaits.begin(name, next.number, error);
      } else if (error === LEADERSHIP_LOST || isOutage(error) || isSignedOut(error)) {
        this.#endRound(error);
      } else {
        this.#paused.set(name, error);
        this.#report(error);
      }
    } finally {
      this.#inFlight.delete(name);
      this.#enqueue(name);
      this.#onProgress?.();
    }
  }

  #endRound(error: unknown): void {
    this.#failure ??= error;
    if (error !== LEADERSHIP_LOST) this.#report(error);
  }

  #report(error: unknown): void {
    if (!this.#isClosed) this.#parts.report(error);
  }
}
