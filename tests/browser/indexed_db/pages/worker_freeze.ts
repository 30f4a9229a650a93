// A page that is left while its worker writes or is idle: the browser may freeze both. What each engine does was measured.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, isSessionError } from 'adk-session-wasm';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import { keyOf, say } from '../page/events.js';
import type { WriterTask } from '../page/pages/writer.js';

/** What the tests call in the page. */
export const inPage = { startWriter, untilIdle, appendInTime, deleteInTime, wasRestored };
type Page = typeof inPage;

type WorkerKind = 'dedicated' | 'shared';
const KINDS: WorkerKind[] = ['dedicated', 'shared'];

/** Firefox tells a page late that its shared worker has given a lock back, and does not keep it before. */
const ATTEMPTS = 5;

export function workerFreeze(context: Context, browserName: BrowserName): void {
  for (const kind of KINDS) {
    it(`a page that is left while its ${kind} worker writes ${browserName === 'webkit' ? 'blocks other pages in WebKit' : 'blocks no other page'}`, async () => {
      const name = newName();
      await inTwoTabs<Page>(context, async (left, other) => {
        await left.call('startWriter', kind, { name, writes: true });
        await left.open(context.site.elsewhere);
        const outcome = await other.call('appendInTime', name);
        await left.back();
        const isRestored = await left.call('wasRestored');
        const isFrozen = browserName === 'webkit';
        assert.deepEqual(
          { outcome, isRestored },
          { outcome: isFrozen ? 'connection_lost' : 'stored', isRestored: isFrozen },
        );
      });
    });

    it(`a page that is left with an idle ${kind} worker blocks no deletion`, async () => {
      const name = newName();
      await inTwoTabs<Page>(context, async (left, other) => {
        await left.call('startWriter', kind, { name, writes: false });
        await left.call('untilIdle', name, browserName !== 'chromium');
        await left.open(context.site.elsewhere);
        assert.equal(await other.call('deleteInTime', name), 'deleted');
      });
    });

    it(`a page that is left with an idle ${kind} worker is restored`, async () => {
      const name = newName();
      await inTab<Page>(context, async (left) => {
        let isRestored = false;
        for (let attempt = 0; attempt < ATTEMPTS && !isRestored; attempt += 1) {
          await left.call('startWriter', kind, { name, writes: false });
          await left.call('untilIdle', name, browserName !== 'chromium');
          await left.open(context.site.elsewhere);
          await left.back();
          isRestored = await left.call('wasRestored');
        }
        assert.ok(isRestored);
      });
    });
  }
}

let isRestored = false;

function wasRestored(): boolean {
  return isRestored;
}

/** Starts the worker, and waits until it has appended. */
async function startWriter(kind: WorkerKind, task: WriterTask): Promise<void> {
  addEventListener('pageshow', ({ persisted }) => (isRestored ||= persisted));
  const script = '/writer.js';
  // Another page must not share it.
  const [source, port] =
    kind === 'dedicated'
      ? dedicated(new Worker(script))
      : shared(new SharedWorker(script, task.name));
  const error = await new Promise<string>((resolve) => {
    source.addEventListener('error', (event) => resolve((event as ErrorEvent).message));
    port.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
    port.postMessage(task);
  });
  if (error !== '') throw new Error(error);
}

function dedicated(worker: Worker): [EventTarget, Worker] {
  return [worker, worker];
}

function shared(worker: SharedWorker): [EventTarget, MessagePort] {
  return [worker, worker.port];
}

/** Waits until no worker holds the lock of the database, where it is given back. */
async function untilIdle(name: string, isGivenBack: boolean): Promise<void> {
  while (isGivenBack) {
    const { held = [] } = await navigator.locks.query();
    if (!held.some((lock) => lock.name?.endsWith(`:${name}`))) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A call that waits asks for the locks after a second. */
const TIMEOUT = 5000;

/** Returns `stored`, or the code of the error. */
async function appendInTime(name: string): Promise<string> {
  const service = new IndexedDbSessionService({ name, timeoutMs: TIMEOUT });
  try {
    const session = await service.getOrCreateSession(keyOf('beside'));
    await service.appendEvent({ session, event: say('beside') });
    return 'stored';
  } catch (error) {
    return codeOf(error);
  } finally {
    await service.close();
  }
}

/** Returns `deleted`, or the code of the error. */
async function deleteInTime(name: string): Promise<string> {
  try {
    await IndexedDbSessionService.deleteDatabase(name, { timeoutMs: TIMEOUT });
    return 'deleted';
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  if (!isSessionError(error)) throw error;
  return error.code;
}
