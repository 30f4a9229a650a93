import { onAbort, TimeLimit } from '../../../core/call/time_limit.js';
import type { RunUnderWay } from '../../../core/history_types.js';
import { keptDrafts } from '../../../core/run_report.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
import { requireObject } from '../../../values/errors/option_values.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { copyEvent, copyPartial } from './copies.js';
import { Drafts } from './drafts.js';
import {
  type RunAgent,
  RUN_STORE,
  type RunContext,
  type SentEvent,
  STORES_MESSAGE,
} from './run_context.js';
import { artifactsOfRun } from './run_artifacts.js';
import { type EndedAs, endEventsOf, type EndingRun, endRun } from './end_events.js';
import { cancelledError, isFenced, type Report, runFailed, runStatusOf } from './run_status.js';
import { type AdmittedMessage, type AgentRun, RunStorage } from './run_storage.js';

/** Why a run is stopped. */
export type StopReason = 'cancelled' | 'timeout' | 'closed' | 'deleted' | 'rewound';

/** How a run has ended. */
export interface RunEnd {
  /** `refused`: its message was not stored. */
  readonly status: 'ended' | 'failed' | 'cancelled' | 'refused';
  /** Why it was refused or has failed, or the time limit that has cancelled it. */
  readonly error?: unknown;
  /** Why it was stopped, if it was. */
  readonly reason?: StopReason | undefined;
}

/** A message that an agent of this program answers. */
export interface LocalMessage {
  readonly key: CompositeSessionKey;
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly streaming: boolean;
  /** Milliseconds from the beginning after which the run is cancelled. Absent: none. */
  readonly maxRunMs?: number | undefined;
  /** See `AgentRun`. */
  readonly admit: () => Promise<AdmittedMessage>;
  /** Called after each change of the run, and once it has ended. */
  readonly onChange: () => void;
  /** Called with each partial event of an answer, and with each whole event, once it is stored. */
  readonly onEvent?: ((event: Event) => void) | undefined;
}

/** A run of an agent in this program, in a page or on a server. It belongs to its session, and not to who has asked. */
export class LocalRun {
  readonly #asked: LocalMessage;
  readonly #controller = new AbortController();
  readonly #drafts = new Drafts();
  /** The whole events of the run so far. */
  readonly #events: Event[] = [];
  /** Resolves with the message once it is stored. Rejects if the run ends before. */
  readonly stored: Promise<Event>;
  /** Resolves when the run has ended and its end event is stored. */
  readonly ended: Promise<RunEnd>;
  #message: Event | undefined;
  #reason: StopReason | undefined;
  #end: RunEnd | undefined;
  #resolveStored!: (stored: Event) => void;
  #rejectStored!: (error: unknown) => void;

  constructor(asked: LocalMessage) {
    this.#asked = asked;
    this.stored = new Promise((resolve, reject) => {
      this.#resolveStored = resolve;
      this.#rejectStored = reject;
    });
    // Often nobody waits for it.
    this.stored.catch(() => undefined);
    this.ended = this.#run();
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): Report | undefined {
    if (this.#message === undefined) return undefined;
    const { id: messageId, invocationId } = this.#message;
    const { status = 'running', error } = this.#end ?? {};
    if (status === 'refused') return undefined;
    const { all, wholes } = this.#drafts;
    const drafts = status === 'failed' ? keptDrafts({ status, drafts: all }) : all;
    return { messageId, invocationId, status, error, drafts, wholes };
  }

  /** The run for a rewind that undoes it. `undefined` unless it is under way, and its message stored. */
  get underWay(): (RunUnderWay & { readonly ending: EndingRun }) | undefined {
    const message = this.#message;
    if (message === undefined || this.isOver) return undefined;
    return {
      message,
      ending: this.#ending,
      endEvents: (events) => endEventsOf(this.#ending, events),
      cancel: () => this.stop('cancelled'),
      abort: () => this.stop('rewound'),
    };
  }

  get #ending(): EndingRun {
    const { agentName } = this.#asked.agent;
    return { message: this.#message!, drafts: this.#drafts.all, agentName };
  }

  /**
   * Stops the run, and waits until it has ended. Stores its end for the reasons `cancelled`, `timeout` and `closed`.
   */
  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    this.#controller.abort(cancelledError());
    await this.ended;
  }

  /** Nobody is told the texts of a deleted session. */
  #stopDeleted(): void {
    this.#drafts.clear();
    this.#asked.onChange();
    void this.stop('deleted');
  }

  async #run(): Promise<RunEnd> {
    const { key, service, maxRunMs, onChange, onEvent } = this.#asked;
    const { signal } = this.#controller;
    const late = (): void => void this.stop('timeout');
    const timer = maxRunMs === undefined ? undefined : setTimeout(late, maxRunMs);
    const watching = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    try {
      await runAgent({
        ...this.#asked,
        signal,
        onStored: (message) => {
          this.#message = message;
          this.#resolveStored(message);
          service.watch(key, {
            signal: watching.signal,
            onNotice: ({ type }) => void (type === 'deleted' && this.#stopDeleted()),
          });
          onChange();
        },
        onPartial: (partial) => {
          this.#drafts.add(partial);
          onChange();
          onEvent?.(partial);
        },
        onWhole: (whole) => {
          this.#events.push(whole);
          this.#drafts.end(whole);
          onChange();
          onEvent?.(whole);
        },
      });
    } catch (error) {
      failure = { error };
    } finally {
      clearTimeout(timer);
      watching.abort();
    }
    const end = await this.#endOf(failure);
    this.#end = end;
    this.#rejectStored(end.error);
    onChange();
    return end;
  }

  /** Returns how the run ends, and stores its end event. Never rejects. */
  async #endOf(failure: { readonly error: unknown } | undefined): Promise<RunEnd> {
    const reason = this.#reason;
    const message = this.#message;
    if (message === undefined) {
      const error = reason === undefined ? failure?.error : this.#stopError(reason);
      return { status: 'refused', error, reason };
    }
    if (reason === 'deleted') return { status: 'ended', reason };
    // Another process has cancelled the run, or a rewind has undone it: its next append was refused.
    if (reason === 'rewound' || isFenced(failure?.error)) return { status: 'cancelled', reason };
    if (reason === undefined) return this.#ownEnd(message, failure);
    const endedAs = reason === 'closed' ? 'unanswered' : 'cancelled';
    try {
      await this.#storeEnd(endedAs);
    } catch (error) {
      // A session that was deleted meanwhile needs no end event.
      if (!isSessionError(error, 'not_found')) return { status: 'failed', error, reason };
    }
    if (reason === 'closed') return { status: 'ended', reason };
    const error = reason === 'timeout' ? this.#stopError(reason) : undefined;
    return { status: 'cancelled', error, reason };
  }

  /**
   * Returns the end of a run that nobody has stopped. If the run's events do not report the end, stores an end event.
   */
  async #ownEnd(message: Event, failure: { readonly error: unknown } | undefined): Promise<RunEnd> {
    const told = runStatusOf(message, this.#events);
    if (failure === undefined && told?.status === 'failed') {
      return { status: 'failed', error: told.error };
    }
    // Without an end event the run has ended all the same.
    if (failure !== undefined) await this.#storeEnd(failure).catch(() => undefined);
    else if (told?.status === 'unanswered') {
      await this.#storeEnd('unanswered', true).catch(() => undefined);
    }
    return failure ? { status: 'failed', error: failure.error } : { status: 'ended' };
  }

  /** @param isUnanswered whether to read first if the agent has stored an answer that it did not yield */
  async #storeEnd(endedAs: EndedAs, isUnanswered = false): Promise<void> {
    const { key, service } = this.#asked;
    const run = { ...this.#ending, key, isUnanswered, endedAs };
    for (const event of await endRun(service, run)) this.#drafts.end(event as Event);
  }

  #stopError(reason: StopReason): SessionError {
    if (reason === 'closed')
      return new SessionError('closed', 'The server has stopped during the run.');
    if (reason !== 'timeout') return cancelledError(' Nothing was written.');
    const text = `The run took longer than ${this.#asked.maxRunMs} ms, and was cancelled.`;
    return new SessionError('timeout', text);
  }
}

/** Milliseconds that a cancelled agent may take to end. After that, nobody waits for it. */
const END_MS = 1000;

/**
 * Stores a message, and lets an agent answer it. An agent that stores its message itself is called first. Resolves when
 * the agent has ended, or a second after the signal has fired. Events that the agent yields after the signal are
 * dropped.
 *
 * @throws SessionError `run_failed` with the `cause` that the agent threw; `already_exists` if the message is stored
 *   already; `aborted` if the signal fires before the message is stored; `invalid_argument` for what the agent yields;
 *   any error of `admit` and of the appends
 */
export async function runAgent(run: AgentRun): Promise<void> {
  const { key, service, agent, signal, streaming } = run;
  const storage = new RunStorage(run);
  const limit = new TimeLimit(undefined);
  const ignore = onAbort(signal, () => limit.start(END_MS));
  let events: AsyncIterator<unknown> | undefined;
  try {
    const message = await storage.admit();
    if (agent[STORES_MESSAGE] !== true) await storage.storeMessage();
    if (signal.aborted) return requireStored(storage);
    const context: RunContext = {
      ...key,
      service,
      message,
      streaming,
      signal,
      artifacts: artifactsOfRun(service, key, message.id, () => storage.isStored),
      session: () => storage.session(),
      [RUN_STORE]: storage,
    };
    const fail = (error: unknown): never => {
      throw storage.isOwn(error) || isFenced(error) ? error : runFailed(error);
    };
    events = await attempt(() => iterate(agent, context), fail);
    for (;;) {
      const next = attempt(() => events!.next(), fail);
      const isInTime = await limit.until(next.catch(() => undefined));
      if (!isInTime || signal.aborted) {
        next.catch(() => undefined);
        break;
      }
      const result = await next;
      requireObject('the result of the agent', result);
      if (result.done === true) break;
      await take(run, storage, message, result.value);
    }
    if (!signal.aborted) await storage.storeMessage();
    requireStored(storage);
  } finally {
    storage.end();
    ignore();
    limit.end();
    // Not awaited: an agent that waits for something may never end.
    if (events !== undefined) attempt(() => events!.return?.()).catch(() => undefined);
  }
}

function requireStored(storage: RunStorage): void {
  if (!storage.isStored) throw cancelledError(' Nothing was written.');
}

/** Calls foreign code, which may throw, return a promise or return a value. */
async function attempt<Result>(
  call: () => Result | PromiseLike<Result>,
  onError?: (error: unknown) => never,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (onError !== undefined) return onError(error);
    throw error;
  }
}

async function take(
  { agent, onPartial, onWhole }: AgentRun,
  storage: RunStorage,
  message: Event,
  given: unknown,
): Promise<void> {
  if (typeof given === 'string') {
    throw invalidValue('event', 'must be an object: yield { author, content }', given);
  }
  requireObject('event', given);
  const sent = given as SentEvent;
  const invocationId = sent.invocationId ?? message.invocationId;
  const isPartial = sent.partial === true;
  const copy = isPartial ? copyPartial : copyEvent;
  const event = copy({ ...sent, invocationId }, agent.agentName);
  if (!event.author) {
    throw invalid('event.author', 'must be given, or the agent needs an agentName');
  }
  if (event.id === message.id) {
    throw invalid('event.id', 'is the id of the message that the run answers');
  }
  await storage.storeMessage();
  if (isPartial) return onPartial(event);
  await storage.storeWhole(event);
  onWhole(event);
}

/** @throws SessionError `invalid_argument` if the function does not return events; what it throws */
function iterate(agent: RunAgent, context: RunContext): AsyncIterator<unknown> {
  const events: unknown = agent(context);
  const { [Symbol.asyncIterator]: iterator } = Object(events) as Partial<AsyncIterable<unknown>>;
  if (typeof iterator === 'function') {
    const made: unknown = Reflect.apply(iterator, events, []);
    const { next, return: end } = Object(made) as Partial<AsyncIterator<unknown>>;
    // Without `return` nothing could end the agent of a cancelled run.
    if (typeof next === 'function' && typeof end === 'function')
      return made as AsyncIterator<unknown>;
  }
  const what =
    'must be an async generator, or return an async iterable whose iterator has next and return';
  throw invalidValue('run', what, events);
}
