/** Opens a storage for each case, runs each part of the case within a time limit, and closes the storage. */
import { endsWithin } from '../core/call/time_limit.js';
import { messageOf } from '../values/errors/describe.js';
import { openSessionService, type SessionService, type SessionServiceOptions } from '../index.js';
import type { Storage } from '../core/storage/index.js';
import { type Case, readSteps, type Step, type SuiteCase } from './case.js';
import { CaseExecution } from './case_execution.js';

/**
 * Returns an empty storage: a `Storage` or `'memory'`. It may also return a service over an empty storage,
 * made with the given options.
 *
 * @example
 * ```ts
 * import { IndexedDbSessionService } from 'adk-session-wasm';
 * import type { OpenStorage } from 'adk-session-wasm/testing';
 *
 * const inMemory: OpenStorage = () => 'memory';
 * let count = 0;
 * const inDatabase: OpenStorage = (options) =>
 *   new IndexedDbSessionService({ ...options, name: `conformance-${++count}` });
 * ```
 */
export type OpenStorage = (
  options: Pick<SessionServiceOptions, 'clock' | 'stale' | 'autoTitle'>,
) => OpenedStorage | Promise<OpenedStorage>;

/** What the suite tests: memory, a storage, or a service over one. */
export type OpenedStorage = 'memory' | Storage | SessionService;

/**
 * Milliseconds after which a step has failed, also on a slow machine. A verb that never settles would stop the test
 * runner.
 */
const STEP_LIMIT = 300_000;

/** A part of a case that must end within the time limit, and what the report says of it. */
interface Part {
  readonly at?: string;
  readonly call?: string;
  run(): Promise<void>;
}

/**
 * Runs a case of either kind, and closes what was opened. Throws an error with the failed step and its call, if the
 * case has steps, and the hint of the case. A case of the verbs does nothing over a service, which has none.
 *
 * @param limitMs see {@link STEP_LIMIT}
 */
export async function runCase(
  testCase: SuiteCase,
  openStorage: OpenStorage,
  limitMs = STEP_LIMIT,
): Promise<void> {
  const clock = { now: 1000 };
  const { autoTitle = false, stale } = 'steps' in testCase ? testCase : {};
  const options = { clock: () => clock.now, stale, autoTitle };
  const storage = await openStorage(options);
  let [opened, parts]: [Pick<Storage, 'close'>, Part[]] = [{}, []];
  if ('steps' in testCase) {
    const service = isService(storage)
      ? storage
      : await openSessionService({ ...options, storage });
    [opened, parts] = [service, stepsOf(testCase, storage, new CaseExecution(service, clock))];
  } else if (storage !== 'memory') {
    opened = storage;
    if (!isService(storage)) parts = [{ run: () => testCase.run(storage) }];
  }
  const close = async (): Promise<void> => opened.close?.();
  try {
    for (const part of parts) {
      await inTime(limitMs, part.run()).catch((cause: unknown) => {
        const lines = [`${part.at ?? ''}${messageOf(cause)}`];
        if (part.call !== undefined) lines.push(`call: ${part.call}`);
        if (testCase.hint !== undefined) lines.push(`hint: ${testCase.hint}`);
        throw new Error(lines.join('\n  '), { cause });
      });
    }
  } catch (error) {
    // The case's error is thrown, not that of the close.
    await inTime(limitMs, close()).catch(() => undefined);
    throw error;
  }
  await inTime(limitMs, close());
}

/** Returns the steps, unless the storage lacks a verb that they need. */
function stepsOf({ steps }: Case, storage: OpenedStorage, run: CaseExecution): Part[] {
  const text = JSON.stringify(steps);
  if (!hasVerb(storage, 'describe') && /"(title|labels)"/.test(text)) return [];
  if (!hasVerb(storage, 'deleteUnchanged') && text.includes('"deleteSessions"')) return [];
  return readSteps(steps).map((step, number) => ({
    at: `step ${number + 1}: `,
    call: callOf(step),
    run: () => run.step(step),
  }));
}

/** Waits for a step or a close, but not for ever. */
async function inTime(limitMs: number, work: Promise<void>): Promise<void> {
  if (await endsWithin(limitMs, work)) return;
  throw new Error(`it has not ended after ${limitMs / 1000} s; every verb must settle`);
}

function callOf(step: Step): string {
  if (!('call' in step)) return `${step.calls.length} calls at once`;
  const { op, handle, with: request } = step.call;
  const call = `${op} ${JSON.stringify(request)}`;
  const through = handle === undefined ? '' : ` through handle ${handle}`;
  return (call.length > 200 ? `${call.slice(0, 200)}…` : call) + through;
}

function isService(storage: OpenedStorage): storage is SessionService {
  return typeof (storage as Partial<SessionService>).createSession === 'function';
}

/** Returns whether a storage has an optional verb. Memory and services have all. */
function hasVerb(storage: OpenedStorage, verb: 'describe' | 'deleteUnchanged'): boolean {
  return storage === 'memory' || isService(storage) || storage[verb] !== undefined;
}
