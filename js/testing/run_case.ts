/** Opens a storage for each case, runs the case within a time limit, and closes the storage. */
import { endsWithin } from '../core/call/time_limit.js';
import { messageOf } from '../values/errors/describe.js';
import { openSessionService, type SessionService, type SessionServiceOptions } from '../index.js';
import type { Storage } from '../core/storage/index.js';
import { type Case, readSteps, type Step } from './case.js';
import { CaseRun } from './case_run.js';
import type { VerbCase } from './verb_cases.js';

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
type OpenedStorage = 'memory' | Storage | SessionService;

/** Milliseconds after which a step has failed, also on a slow machine. A verb that never settles would stop the test runner. */
const STEP_LIMIT = 300_000;

/**
 * Runs a case. Throws an error with the failed step, its call, and the hint of the case.
 *
 * @param limitMs see {@link STEP_LIMIT}
 */
export async function runCase(
  testCase: Case,
  openStorage: OpenStorage,
  limitMs = STEP_LIMIT,
): Promise<void> {
  const clock = { now: 1000 };
  const { autoTitle = false, stale } = testCase;
  const options = { clock: () => clock.now, stale, autoTitle };
  const storage = await openStorage(options);
  const service = isService(storage) ? storage : await openSessionService({ ...options, storage });
  await thenClose(service, limitMs, async () => {
    const steps = JSON.stringify(testCase.steps);
    if (!hasVerb(storage, 'describe') && /"(title|labels)"/.test(steps)) return;
    if (!hasVerb(storage, 'deleteUnchanged') && steps.includes('"deleteSessions"')) return;
    const run = new CaseRun(service, clock);
    for (const [number, step] of readSteps(testCase.steps).entries()) {
      await inTime(limitMs, run.step(step)).catch((cause: unknown) => {
        const hint = testCase.hint === undefined ? '' : `\n  hint: ${testCase.hint}`;
        const message = `step ${number + 1}: ${messageOf(cause)}\n  call: ${callOf(step)}${hint}`;
        throw new Error(message, { cause });
      });
    }
  });
}

/** Runs a case of the verbs over a storage. Does nothing for a service: that has no verbs. */
export async function runVerbCase(
  testCase: VerbCase,
  openStorage: OpenStorage,
  limitMs = STEP_LIMIT,
): Promise<void> {
  const storage = await openStorage({ clock: () => 1000 });
  if (storage === 'memory') return;
  await thenClose(storage, limitMs, async () => {
    if (isService(storage)) return;
    await inTime(limitMs, testCase.run(storage)).catch((cause: unknown) => {
      const hint = `${testCase.place} in docs/writing_a_storage.md`;
      throw new Error(`${messageOf(cause)}\n  hint: ${hint}`, { cause });
    });
  });
}

/** Runs a case and closes its storage. If the case fails, its error is thrown, not that of the close. */
async function thenClose(
  storage: Pick<Storage, 'close'>,
  limitMs: number,
  run: () => Promise<void>,
): Promise<void> {
  const close = async (): Promise<void> => storage.close?.();
  try {
    await run();
  } catch (error) {
    await inTime(limitMs, close()).catch(() => undefined);
    throw error;
  }
  await inTime(limitMs, close());
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
