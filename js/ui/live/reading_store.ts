/**
 * Live stores: sessions and lists of sessions, as they are stored now.
 *
 * The stores use the public methods of a service. A cache also tells them by its core when its data are forgotten. Runs
 * are loaded from `js/service/runs` on demand. The folder knows neither React nor Vue.
 */
import { reportUncaught } from '../../core/call/diagnostics.js';
import { type GivenService, givenService } from '../../core/call/given_service.js';
import { coreOf, type Epochs } from '../../core/core_of.js';
import { SessionError } from '../../values/errors/errors.js';
import { isPromise, markRaw } from '../../values/members.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { ListenOptions, Notice } from '../../values/model/notice.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keepMembers } from './snapshot/keep_elements.js';
import { onReadable, ReadRetries } from './read_retries.js';
import { onPending } from './snapshot/unsent_events.js';
import type { LiveStore } from './types.js';

/**
 * Milliseconds after which a frame is no longer waited for. A hidden tab has none, and a tab may be hidden while
 * it waits.
 */
const LATEST_FRAME = 100;

/**
 * Calls `run` once, before the next frame is painted. Without frames, as in Node, in a task of its own.
 *
 * @returns a function that cancels the call
 */
export function onNextFrame(run: () => void): () => void {
  const { requestAnimationFrame, cancelAnimationFrame, document } = globalThis as Partial<
    typeof globalThis
  >;
  const request = document?.visibilityState === 'hidden' ? undefined : requestAnimationFrame;
  const stop = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame?.(frame);
  };
  const runOnce = (): void => {
    stop();
    run();
  };
  const timer = setTimeout(runOnce, request === undefined ? 0 : LATEST_FRAME);
  const frame = request?.(runOnce);
  return stop;
}

/** Returns a function that throws `aborted` when a cache has forgotten its local data since now. */
export function forgottenCheck(service: object): () => void {
  const epochs = coreOf(service)?.epochs;
  const present = epochs?.present();
  return () => {
    if (epochs?.present() !== present) throw forgottenError();
  };
}

export function forgottenError(): SessionError {
  const message =
    'The cache has forgotten its local data. Call reload, or make another store, after the next login.';
  return new SessionError('aborted', message);
}

const METHODS = ['watch', 'listChanges', 'loadOlder'] as const;

interface SnapshotListener<Snapshot> {
  readonly listener: (snapshot: Snapshot) => void;
  /** The last snapshot that the listener got. */
  lastSnapshot?: Snapshot;
}

/** The subscriptions and the reads of a store. Its subclass knows what is read. */
export abstract class ReadingStore<
  S extends object,
  Snapshot extends object,
> implements LiveStore<Snapshot> {
  static {
    markRaw(this.prototype);
  }

  readonly #subscriptions = new Set<SnapshotListener<Snapshot>>();
  protected readonly service: () => GivenService<SessionService<S>>;
  #snapshot: Snapshot | undefined;
  /** Whether the snapshot may be out of date. */
  #isChanged = true;
  #cancelFrame: (() => void) | undefined;
  /** Present while there are subscribers. Ends the watch and the reads. */
  #watching: AbortController | undefined;
  /** The signal of the last watch that has begun. */
  #watched: AbortSignal | undefined;
  /** The signal of the subscribers for whom the store follows what else the service tells. */
  #followed: AbortSignal | undefined;
  /** The read under way. */
  protected reading: Promise<void> | undefined;
  /** The read that follows it. */
  #nextReading: Promise<void> | undefined;
  #hasLoaded = false;
  /** Whether the last read ended because the last subscriber left. */
  #wasAborted = false;
  /** The call of `load` under way. */
  #loading: Promise<void> | undefined;
  readonly #retries = new ReadRetries(() => void this.refresh());
  /** The last read's error. */
  protected error: unknown;

  /** What a cache had when the store began to use it. */
  #epoch: { readonly epochs: Epochs; readonly present: object } | undefined;
  /** Whether the store has dropped what was forgotten. */
  #hasForgotten = false;

  constructor(service: GivenService<SessionService<S>>) {
    this.service = givenService(service, METHODS);
  }

  protected abstract makeSnapshot(): Snapshot;
  /** Watches what the snapshot shows. */
  protected abstract watch(service: SessionService<S>, options: ListenOptions): void;
  /** Notes what a notice asks to read. Returns `false` if it is no news. */
  protected abstract note(notice: Notice): boolean;
  /** Notes that everything is to be read. Absent if each read reads everything. */
  protected noteAll?(): void;
  /** Notes that changes may have been missed since the last read, if there was one. */
  protected noteMissed?(): void;
  /** Notes that the remote of a cache has other changes, or has refused others. */
  protected notePending?(service: SessionService<S>): void;
  /** Reads what was noted. Afterwards the subscribers are told. */
  protected abstract read(
    service: SessionService<S>,
    signal: HostAbortSignal | undefined,
  ): Promise<void>;
  /** Whether the store has something that another one would not read: what is unsent or streamed, for example. */
  protected abstract readonly isHolding: boolean;

  /** Drops everything that was read or is to be written. */
  protected abstract forget(): void;

  /** Whether a cache has forgotten what the store shows. */
  get isForgotten(): boolean {
    return this.#epoch !== undefined && this.#epoch.epochs.present() !== this.#epoch.present;
  }

  /**
   * Remembers which data a cache has now. It is asked before each call of the service, also before one that follows
   * another in the same read or write: a call that begins after `forget` would store data again.
   *
   * @throws SessionError `aborted` if the cache has forgotten what the store shows
   */
  protected use(service: SessionService<S>): SessionService<S> {
    if (this.isForgotten) throw forgottenError();
    const epochs = coreOf(service)?.epochs;
    if (epochs !== undefined) this.#epoch ??= { epochs, present: epochs.present() };
    return service;
  }

  /** Whether the store is to be kept: for its subscribers, for a read, or for what it holds. */
  get isUsed(): boolean {
    if (this.isForgotten) return this.isActive;
    const hasError = this.error !== undefined;
    return this.isActive || this.reading !== undefined || hasError || this.isHolding;
  }

  /** Whether anything has been read. */
  get isRead(): boolean {
    return this.#hasLoaded;
  }

  /** Whether anyone subscribes. */
  get isActive(): boolean {
    return this.#watching !== undefined;
  }

  readonly subscribe = (listener: (snapshot: Snapshot) => void): (() => void) => {
    // The same function may subscribe twice.
    const subscription: SnapshotListener<Snapshot> = { listener };
    this.#subscriptions.add(subscription);
    if (this.#watching === undefined) this.#start();
    this.#tell(subscription);
    return () => {
      const isEnded = this.#subscriptions.delete(subscription);
      if (isEnded && this.#subscriptions.size === 0) this.#stop();
    };
  };

  readonly getSnapshot = (): Snapshot => {
    if (this.isForgotten && !this.#hasForgotten) {
      this.#hasForgotten = true;
      this.error = undefined;
      this.forget();
      this.#isChanged = true;
    }
    if (this.#isChanged) {
      this.#isChanged = false;
      this.#snapshot = keepMembers(this.#snapshot, this.makeSnapshot());
    }
    return this.#snapshot!;
  };

  readonly load = (): Promise<void> => {
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  };

  readonly reload = (): Promise<void> => {
    if (this.isForgotten) {
      // The store begins again, with the data that the cache has now.
      this.getSnapshot();
      this.#epoch = undefined;
      this.#hasForgotten = false;
    }
    return this.reread();
  };

  /** Reads everything again. */
  protected reread(): Promise<void> {
    this.noteAll?.();
    return this.refresh();
  }

  /**
   * Reads. A read under way may have missed what is asked for, so another one follows it. Never rejects.
   *
   * @returns a promise that does not wait for later reads: in a busy app there is always another one
   */
  protected refresh(): Promise<void> {
    if (this.reading === undefined) return (this.reading = this.#read());
    return (this.#nextReading ??= this.reading.then(() => {
      this.#nextReading = undefined;
      return this.reading ?? this.refresh();
    }));
  }

  /** Changes what is stored, and reads the change if anyone sees it. A read under way may have missed it. */
  protected async change<Result>(
    write: (service: SessionService<S>) => Promise<Result>,
  ): Promise<Result> {
    const result = await write(this.use(await this.service()));
    if (this.isActive || this.reading !== undefined) await this.refresh();
    return result;
  }

  /** Tells the subscribers of a change, in the next frame. */
  protected changed(): void {
    this.#isChanged = true;
    if (this.#watching === undefined) return;
    this.#cancelFrame ??= onNextFrame(() => {
      this.#cancelFrame = undefined;
      // A listener may subscribe others, which are told at once, and end the subscriptions of others.
      for (const subscription of [...this.#subscriptions]) {
        if (this.#subscriptions.has(subscription)) this.#tell(subscription);
      }
    });
  }

  /**
   * Calls a listener, unless it has the current snapshot. Reports what it throws: the other listeners must still be
   * called, and `subscribe` must still return the function that ends the subscription.
   */
  #tell(subscription: SnapshotListener<Snapshot>): void {
    const snapshot = this.getSnapshot();
    if (subscription.lastSnapshot === snapshot) return;
    subscription.lastSnapshot = snapshot;
    try {
      subscription.listener(snapshot);
    } catch (error) {
      reportUncaught(error);
    }
  }

  #start(): void {
    this.#watching = new AbortController();
    this.noteMissed?.();
    void this.refresh();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    if (this.#watched === signal) return;
    // Without a promise to wait for, it watches at once.
    const given = this.service();
    const service = isPromise(given) ? await given : given;
    if (signal.aborted) return;
    const onNotice: ListenOptions['onNotice'] = (notice) => {
      if (!signal.aborted && !this.isForgotten && this.note(notice)) void this.refresh();
    };
    let hasEnded = false;
    // For example a login has expired. The next read watches again: at the latest when another feed opens.
    const onEnd = (): void => {
      hasEnded = true;
      if (this.#watched === signal) this.#watched = undefined;
    };
    this.watch(service, { signal, onNotice, onEnd });
    if (!hasEnded) this.#watched = signal;
    if (this.#followed !== signal) this.#follow(service, signal);
  }

  /** Follows what a service tells besides its notices. */
  #follow(service: SessionService<S>, signal: AbortSignal): void {
    this.#followed = signal;
    const stops = [
      coreOf(service)?.epochs?.onForgotten(() => this.changed()),
      onPending(service, () => {
        if (!this.isForgotten) this.notePending?.(service);
      }),
      onReadable(service, () => {
        if (this.error !== undefined || this.#watched !== signal) void this.refresh();
      }),
    ];
    signal.addEventListener('abort', () => {
      for (const stop of stops) stop?.();
    });
  }

  #stop(): void {
    this.#watching?.abort();
    this.#watching = undefined;
    this.#retries.reset();
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
  }

  async #load(): Promise<void> {
    if (this.#hasLoaded) return;
    // The read under way is aborted if the last subscriber leaves. This call still needs it.
    do await (this.reading ?? this.refresh());
    while (this.#wasAborted);
  }

  async #read(): Promise<void> {
    this.#wasAborted = false;
    this.#retries.stop();
    const signal = this.#watching?.signal;
    let service: SessionService<S> | undefined;
    try {
      // Before the read, so that no change is missed.
      if (signal !== undefined) await this.#watch(signal);
      service = this.use(await this.service());
      // React's StrictMode subscribes, leaves and subscribes again at once: the second subscription reads.
      signal?.throwIfAborted();
      await this.read(service, signal);
      this.#hasLoaded = true;
      this.error = undefined;
      this.#retries.reset();
    } catch (error) {
      // Only the next subscriber, or a call of `load`, needs what was aborted, and reads it again.
      this.#wasAborted = signal?.aborted === true;
      if (!this.#wasAborted && !this.isForgotten) {
        this.error = error;
        if (signal !== undefined) this.#retries.noteFailure(error, service);
      }
    }
    this.changed();
    this.reading = undefined;
  }
}
