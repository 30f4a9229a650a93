import { onAbort } from '../../../core/call/on_abort.js';
import { TimeLimit } from '../../../core/call/time_limit.js';
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
import { requireObject } from '../../../values/errors/option_values.js';
import type { Event } from '../../../values/model/event/event.js';
import { cancelledError, isFenced } from '../state/cancelled.js';
import { runFailed } from '../state/run_status.js';
import { copyEvent, copyPiece } from './copies.js';
import {
  RUN_STORE,
  type RunAgent,
  type RunContext,
  type SentEvent,
  STORES_MESSAGE,
} from './run_context.js';
import { type AgentRun, RunStorage } from './run_storage.js';

/** Milliseconds that a cancelled agent may take to end. After that, nobody waits for it. */
const END_MS = 1000;

/**
 * Stores a message, and lets an agent answer it. An agent that stores its message itself is called first. Resolves when
 * the agent has ended, or a second after the signal has fired. Events that the agent yields after the signal are dropped.
 *
 * @throws SessionError `run_failed` with the `cause` that the agent threw; `already_exists` if the message is stored
 *   already; `aborted` if the signal fires before the message is stored; `invalid_argument` for what the agent yields; any error
 *   of `admit` and of the appends
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
      ...{ ...key, service, message, streaming, signal },
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
  { onPiece, onWhole }: AgentRun,
  storage: RunStorage,
  message: Event,
  given: unknown,
): Promise<void> {
  requireObject('event', given);
  const sent = given as SentEvent;
  const invocationId = sent.invocationId ?? message.invocationId;
  const isPiece = sent.partial === true;
  const event = (isPiece ? copyPiece : copyEvent)({ ...sent, invocationId });
  if (event.id === message.id) {
    throw invalid('event.id', 'is the id of the message that the run answers');
  }
  await storage.storeMessage();
  if (isPiece) return onPiece(event);
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
