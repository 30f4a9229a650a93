/**
 * Runs: an agent answers the messages of a session. `run_table.ts` is the machine. This file feeds it in a page: with
 * the agent in the page (`page_runs.ts`), on its server (`remote_runs.ts`) or on `adk api_server`
 * (`api_server_runs.ts`). `js/server/runs` does it on a server.
 *
 * The folder calls only the public methods of a service. It has two exceptions: the idempotency key, which is a hidden
 * member of an append, and the core of a service, which has the feed's channel and the agent of a server. It knows
 * neither live sessions nor `@google/adk`.
 */
import type { Draft } from '../../core/run_report.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { keyText } from '../../values/model/values/ids.js';
import {
  type Happening,
  isOpen,
  isUnderWay,
  isUnsent,
  isWaiting,
  type MessageRun,
  nextOf,
  type RunsOfSession,
  step,
  withoutOldDrafts,
} from './run_table.js';
import type { AskedMessage, Runs } from './run_display.js';
import { cancelledError, type SessionRun } from './agent/run_status.js';

/** A message that waits, and its caller. */
export interface QueuedMessage extends AskedMessage {
  readonly resolve: (stored: Event) => void;
  readonly reject: (error: unknown) => void;
}

/** How the messages of a session reach their agent, and who tells what runs. */
export interface RunTransport {
  /** Whether a message may be sent while a run is under way: it then waits for a lock, or in an outbox. */
  readonly isFree: boolean;
  /** Whether it has noted nothing that a later call needs. */
  readonly isIdle: boolean;
  /** Whether whoever told what runs has stopped, for example because a login has expired. */
  readonly isCut?: boolean;
  /** Listens to what other programs tell, until the returned function is called. */
  follow(): () => void;
  /**
   * Has the next message answered. Never rejects.
   *
   * @param take takes the message when its turn has come; `undefined` if it waits no more
   * @returns a promise that resolves when the next message may be sent
   */
  send(take: () => QueuedMessage | undefined): Promise<void>;
  /** Stops the run of a message, or stores the end event of the message if it has none. */
  stop(messageId: string): Promise<void>;
  /** See `Runs`. */
  readonly elsewhere?: string | undefined;
  /** See `Runs`. */
  underWay(): RunUnderWay | undefined;
  /** See `Runs`. */
  endUndone?(): Promise<void>;
  /** Ends the run of this program, because the session is gone. */
  abandon(): void;
}

/** Makes the transport. `happened` takes what happens. */
export type MakeTransport = (happened: (happening: Happening) => void) => RunTransport;

/**
 * The runs of one session. All stores of the session in this realm share one instance. It outlives the stores, so
 * unmounting a component cancels nothing.
 */
export class SessionRuns implements Runs {
  #runs: RunsOfSession;
  readonly #transport: RunTransport;
  readonly #queued = new Map<string, QueuedMessage>();
  readonly #listeners = new Set<() => void>();
  #stopFollowing: (() => void) | undefined;
  #isWorking = false;
  /** Called when {@link SessionRuns.isIdle} may have changed. */
  onUse: (() => void) | undefined;

  /** @param known what is known from the start */
  constructor(makeTransport: MakeTransport, known: Pick<RunsOfSession, 'mayPause' | 'isKnown'>) {
    this.#runs = { ...known, messages: [], isPaused: false };
    this.#transport = makeTransport((happening) => void this.#dispatch(happening));
  }

  /** Whether nobody follows the runs, and nothing of them is left that the stored events do not tell. */
  get isIdle(): boolean {
    const isNeeded = (message: MessageRun): boolean =>
      message.phase === 'failed' || (message.isOwn && isOpen(message));
    const isUsed = this.#listeners.size > 0 || this.#isWorking;
    return !isUsed && this.#transport.isIdle && !this.#runs.messages.some(isNeeded);
  }

  get run(): SessionRun | undefined {
    return shownRun(this.#runs);
  }

  get waiting(): SessionRun | undefined {
    return waitingRun(this.#runs);
  }

  get invocationId(): string | undefined {
    const current = currentOf(this.#runs);
    return current?.phase === 'running' ? current.invocationId : undefined;
  }

  get isRunning(): boolean {
    return this.#runs.messages.some(isUnderWay);
  }

  get failedMessageId(): string | undefined {
    const current = currentOf(this.#runs);
    return current?.phase === 'failed' ? current.id : undefined;
  }

  get isKnown(): boolean {
    return this.#runs.isKnown;
  }

  get elsewhere(): string | undefined {
    return this.#transport.elsewhere;
  }

  get drafts(): readonly Draft[] {
    return currentOf(this.#runs)?.drafts ?? [];
  }

  get wholes(): readonly string[] {
    return currentOf(this.#runs)?.wholes ?? [];
  }

  get answeredNow(): ReadonlySet<string> {
    return new Set(this.#runs.messages.filter(isOpen).flatMap(({ callIds }) => callIds));
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#transport.isCut === true) {
      this.#stopFollowing?.();
      this.#stopFollowing = undefined;
    }
    this.#stopFollowing ??= this.#transport.follow();
    this.onUse?.();
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#stopFollowing?.();
      this.#stopFollowing = undefined;
      this.onUse?.();
    };
  }

  ask(asked: AskedMessage): Promise<Event> {
    return new Promise((resolve, reject) => {
      this.#queued.set(asked.id, { ...asked, resolve, reject });
      const { id, callIds, isOfRewind } = asked;
      this.#dispatch({ type: 'asked', message: { id, callIds, isOfRewind } });
    });
  }

  isQueued(messageId: string): boolean {
    return this.#runs.messages.some(({ id, phase }) => id === messageId && phase === 'waiting');
  }

  retry(messageId: string): boolean {
    const isQueued = this.isQueued(messageId);
    if (isQueued) this.#dispatch({ type: 'resumed' });
    return isQueued;
  }

  async cancel(id: string | undefined, unanswered: Event | undefined): Promise<void> {
    const stopped = this.#dispatch({ type: 'cancelled', id, unanswered: unanswered?.id });
    for (const messageId of stopped) await this.#transport.stop(messageId);
    this.#changed();
  }

  underWay(): RunUnderWay | undefined {
    return this.#transport.underWay();
  }

  async endUndone(): Promise<void> {
    await this.#transport.endUndone?.();
    this.onUse?.();
  }

  abandon(): void {
    this.#dispatch({ type: 'abandoned' });
    this.#transport.abandon();
  }

  /** Returns the messages whose runs are to be stopped. */
  #dispatch(happening: Happening): string[] {
    const { runs, effects } = step(this.#runs, happening);
    this.#runs = runs;
    for (const { type, id } of effects) {
      if (type === 'drop') this.#queued.get(id)?.reject(cancelledError(' Nothing was written.'));
    }
    for (const id of this.#queued.keys()) {
      if (!runs.messages.some((message) => message.id === id)) this.#queued.delete(id);
    }
    this.#changed();
    void this.#work();
    return effects.flatMap(({ type, id }) => (type === 'stop' ? [id] : []));
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#next !== undefined) {
      await this.#transport.send(() => {
        const id = this.#next;
        if (id === undefined) return undefined;
        this.#dispatch({ type: 'sent', id });
        return this.#queued.get(id);
      });
    }
    this.#isWorking = false;
    this.onUse?.();
  }

  get #next(): string | undefined {
    return nextOf(this.#runs, this.#transport.isFree);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
    this.#runs = withoutOldDrafts(this.#runs);
    this.onUse?.();
  }
}

/** Returns the run that is under way, or the last one. */
export function currentOf({ messages }: RunsOfSession): MessageRun | undefined {
  return (
    messages.find(({ phase }) => phase === 'running') ?? messages.find((each) => !isUnsent(each))
  );
}

/** Returns what users are shown, as far as it is known without the stored events. */
export function shownRun(runs: RunsOfSession): SessionRun | undefined {
  const current = currentOf(runs);
  const { phase, id = '' } = current ?? {};
  const waiting = runs.messages.find(isWaiting);
  const isPaused = runs.isPaused && waiting !== undefined;
  const paused = isPaused && { isPaused };
  if (phase === 'running') return { status: phase, messageId: id, ...paused };
  const unsent = runs.messages.find(isUnsent);
  const queued = phase === 'stored' ? current : isPaused && unsent === waiting ? undefined : unsent;
  if (queued !== undefined) return { status: 'queued', messageId: queued.id };
  if (phase === 'cancelled') return { status: phase, messageId: id, ...paused };
  if (phase === 'failed') return { status: phase, messageId: id, error: current?.error, ...paused };
  return waitingRun(runs);
}

/** Returns the first message that waits, and whether the queue is paused. */
function waitingRun({ messages, isPaused }: RunsOfSession): SessionRun | undefined {
  const id = messages.find(isWaiting)?.id;
  return id === undefined ? undefined : { status: 'queued', messageId: id, isPaused };
}

/** The runs of sessions, which all live stores of a storage or a service share. Those that are idle may be collected. */
export class RunsOfSessions {
  /** By the object that stands for the storage or the service. */
  readonly #known = new WeakMap<object, KnownRuns>();

  /** Returns the runs of a session. Makes them at the first call. */
  get(owner: object, key: CompositeSessionKey, make: () => SessionRuns): SessionRuns {
    const known = this.#known.get(owner) ?? new KnownRuns();
    this.#known.set(owner, known);
    return known.get(keyText(key), make);
  }
}

/** Some runtimes of servers have neither this nor `WeakRef`. */
const collected =
  typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry<() => void>((forget) => forget())
    : undefined;

/** The runs of one storage or service, by session. */
class KnownRuns {
  readonly #used = new Map<string, SessionRuns>();
  /** A live store that nobody watches may still have those that are idle, so they stay the same while they are there. */
  readonly #idle = new Map<string, WeakRef<SessionRuns>>();

  get(name: string, make: () => SessionRuns): SessionRuns {
    const known = this.#used.get(name) ?? this.#idle.get(name)?.deref();
    if (known !== undefined) return known;
    const made = make();
    if (collected === undefined) {
      this.#used.set(name, made);
      return made;
    }
    const reference = new WeakRef(made);
    made.onUse = () => this.#note(name, reference);
    collected.register(made, () => {
      if (this.#idle.get(name) === reference) this.#idle.delete(name);
    });
    this.#note(name, reference);
    return made;
  }

  #note(name: string, reference: WeakRef<SessionRuns>): void {
    const runs = reference.deref();
    if (runs === undefined) return;
    this.#idle.set(name, reference);
    if (runs.isIdle) this.#used.delete(name);
    else this.#used.set(name, runs);
  }
}
