// Databases that the browser has given up, as far as a page can bring that about: IndexedDB is deleted beneath the package.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import { around } from '../page/around.js';
import { answer } from '../page/bare.js';
import { type Failure, failure, idsOf, keyOf, mark, persist } from '../page/events.js';
import { Feed } from '../page/feed.js';

/** What the tests call in the page. */
export const inPage = {
  make,
  giveUp,
  deleteAsUser,
  open,
  refill,
  refillLate,
  refillOnceThere,
  openAndDrop,
  refillInVain,
  refillByItself,
  refillSlowly,
  openWithoutCaches,
  refuseWrongOption,
};
type Page = typeof inPage;

export function loss(context: Context, browserName: BrowserName): void {
  it('a database that the browser deleted is reported as lost by storage.lost and by watch', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
    });
    await inTab<Page>(context, async (tab) => {
      const { lost, notices, events } = await tab.call('open', name);
      assert.equal(lost.before, '');
      assert.match(lost.after, new RegExp(`gave up the database "${name}"`));
      assert.deepEqual(notices, ['lost']);
      assert.deepEqual(events, []);
    });
    await inTab<Page>(context, async (tab) => {
      const { lost, notices } = await tab.call('open', name);
      assert.deepEqual([lost.after, notices], ['', []], 'the next visit finds nothing lost');
    });
  });

  it('a first visit, a second one and one after deleteDatabase report no loss', async () => {
    const name = newName();
    for (const before of [[], ['make'], ['deleteAsUser'], ['make', 'deleteAsUser']] as const) {
      await inTab<Page>(context, async (tab) => {
        for (const step of before) await tab.call(step, name);
        const { lost, notices } = await tab.call('open', name);
        assert.deepEqual([lost.after, notices], ['', []], `after ${before.join(', ')}`);
      });
    }
  });

  // The other browsers have no command for it.
  if (browserName === 'chromium') {
    it('a visit after the user cleared the site data counts as a first visit', async () => {
      const name = newName();
      await inTab<Page>(context, async (tab) => {
        await tab.call('make', name);
        const { origin } = context.site;
        await context.browser.debug('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
      });
      await inTab<Page>(context, async (tab) => {
        const { lost } = await tab.call('open', name);
        assert.equal(lost.after, '');
      });
    });
  }

  it('onDataLoss fills the store before the first call resolves, in one of two tabs', async () => {
    const name = newName();
    await inTwoTabs<Page>(context, async (one, other) => {
      await one.call('make', name);
      await one.call('giveUp', name);
      await one.start('refill', name);
      await other.start('refill', name);
      const both = [await one.finish<'refill'>(), await other.finish<'refill'>()];
      assert.deepEqual(both.map(({ asked }) => asked).sort(), [0, 1]);
      for (const { asked, events } of both) {
        // Without locks between tabs, as in WebKitGTK, the other tab may come too early.
        if (asked === 1) assert.deepEqual(events, ['refilled']);
        else assert.ok(events.length === 1, 'the other tab waits');
      }
    });
  });

  it('a tab that finds the new database before the other one noted the loss waits for onDataLoss', async () => {
    const name = newName();
    await inTwoTabs<Page>(context, async (one, other) => {
      await one.call('make', name);
      await one.call('giveUp', name);
      await one.start('refillLate', name);
      const second = await other.call('refillOnceThere', name);
      const both = [second, await one.finish<'refillLate'>()];
      assert.deepEqual(both.map(({ asked }) => asked).sort(), [0, 1]);
      for (const { events } of both) assert.deepEqual(events, ['refilled']);
    });
  });

  it('a loss is not forgotten when its service is dropped right after ping()', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      assert.equal(await tab.call('openAndDrop', name), 0);
    });
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
    });
  });

  it('onDataLoss is called again after a failure, even at the next visit', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { failed, asked } = await tab.call('refillInVain', name);
      assert.deepEqual(failed.length, 2);
      for (const message of failed) assert.match(message, /^storage_failed: .*no network/);
      assert.equal(asked, 2);
    });
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
      assert.deepEqual(await tab.call('refill', name), { asked: 0, events: ['refilled'] });
    });
  });

  it('a call of onDataLoss on another service fails, and so does the first call', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { inner, first } = await tab.call('refillByItself', name);
      for (const { code, message } of [inner, first]) {
        assert.equal(code, 'connection_lost');
        assert.match(message, /use only the service that it is given/);
      }
    });
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
    });
  });

  it('calls wait at most timeoutMs for onDataLoss, which continues', async () => {
    const name = newName();
    await inTab<Page>(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { failed, events } = await tab.call('refillSlowly', name);
      const codes = failed.map(({ code }) => code);
      assert.deepEqual(codes, ['connection_lost', 'connection_lost']);
      assert.deepEqual(events, ['refilled 1']);
    });
  });

  it('a page without a Cache API works', async () => {
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('openWithoutCaches', newName()), ['event 0']);
    });
  });

  it('an onDataLoss that is not a function is refused', async () => {
    await inTab<Page>(context, async (tab) => {
      assert.equal((await tab.call('refuseWrongOption')).code, 'invalid_argument');
    });
  });
}

/** The `timeoutMs` of calls that are expected to time out. */
const SHORT = 1_000;

export interface AfterLoss {
  /** The value of `service.storage.lost` before and after the first call. */
  lost: { before: string; after: string };
  /** The types of the notices that came. */
  notices: string[];
  events: string[];
}

/** Creates a database with one session, and waits until the note of its creation is stored. */
export async function make(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
  await service.close();
  await within(`the marker of "${name}" is not there`, async () => {
    const isMarked = async () => (await caches.keys()).some((key) => key.endsWith(`:${name}`));
    while (!(await isMarked())) await new Promise((resolve) => setTimeout(resolve, 10));
  });
}

/** Less than a test waits for a page, so that the test learns what the page waits for. */
const PATIENCE = 60_000;

async function within(problem: string, run: () => Promise<unknown>): Promise<void> {
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${problem} after ${PATIENCE} ms`)), PATIENCE);
  });
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Deletes the database like a browser, without notifying the package. */
export async function giveUp(name: string): Promise<void> {
  await within(`"${name}" is not deleted`, () => answer(indexedDB.deleteDatabase(name)));
}

async function deleteAsUser(name: string): Promise<void> {
  await IndexedDbSessionService.deleteDatabase(name);
}

/** The notices of a page that then opens the database. */
export async function open(name: string): Promise<AfterLoss> {
  const service = new IndexedDbSessionService({ name });
  const feed = new Feed(service, { appName: keyOf('').appName });
  const before = service.storage.lost?.message ?? '';
  const events = idsOf(await service.getSession(keyOf('one')));
  const after = service.storage.lost?.message ?? '';
  if (after !== '') await feed.until(() => feed.changes.length > 0);
  await feed.stop();
  await service.close();
  return { lost: { before, after }, notices: feed.changes.map(({ type }) => type), events };
}

/** Opens and fills the database in two pages concurrently. Returns the calls of `onDataLoss` in this page, and its first read. */
async function refill(name: string): Promise<{ asked: number; events: string[] }> {
  let asked = 0;
  const service = new IndexedDbSessionService({
    name,
    onDataLoss: async ({ when, message }, service) => {
      asked += 1;
      if (!(when > 0) || message === '') throw new Error('a loss says when and what');
      const session = await service.createSession(keyOf('one'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      await service.appendEvent({ session, event: mark('refilled') });
    },
  });
  const events = idsOf(await service.getSession(keyOf('one')));
  await service.close();
  return { asked, events };
}

/** Fills the database in a page with a slow Cache API: the new database exists before the page checks for a loss. */
async function refillLate(name: string): Promise<{ asked: number; events: string[] }> {
  const end = around(CacheStorage.prototype, 'has', async (_, values, proceed) => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return proceed(...values);
  });
  const refilled = await refill(name);
  end();
  return refilled;
}

/** Fills it again as soon as another page has made the new database. */
async function refillOnceThere(name: string): Promise<{ asked: number; events: string[] }> {
  await within(`"${name}" is not made`, async () => {
    const isThere = async () => (await indexedDB.databases()).some((found) => found.name === name);
    while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  return refill(name);
}

/**
 * Opens a service with `onDataLoss` that is garbage collected meanwhile: weak references to it are empty. Returns the
 * number of calls of `onDataLoss`.
 */
async function openAndDrop(name: string): Promise<number> {
  let asked = 0;
  const service = new IndexedDbSessionService({ name, onDataLoss: () => void (asked += 1) });
  const end = around(WeakRef.prototype, 'deref', () => undefined);
  await service.ping();
  end();
  return asked;
}

/** Fails in `onDataLoss`. Returns the errors of the first calls, and the number of calls of `onDataLoss`. */
async function refillInVain(name: string): Promise<{ failed: string[]; asked: number }> {
  let asked = 0;
  const service = new IndexedDbSessionService({
    name,
    onDataLoss: () => {
      asked += 1;
      throw new Error('no network');
    },
  });
  const failed: string[] = [];
  for (let call = 0; call < 2; call += 1) {
    const { code, message } = await failure(() => service.getSession(keyOf('one')));
    failed.push(`${code}: ${message}`);
  }
  await service.close();
  return { failed, asked };
}

/** The filling waits for a call that waits for the filling; what that call, the first one and the next fail with. */
async function refillByItself(name: string): Promise<Record<'inner' | 'first', Failure>> {
  let inner: Promise<Failure> | undefined;
  const service: IndexedDbSessionService = new IndexedDbSessionService({
    name,
    timeoutMs: SHORT,
    onDataLoss: async () => {
      inner = failure(() => service.createSession(keyOf('one')));
      await inner;
      throw new Error('it could not fill');
    },
  });
  const first = await failure(() => service.getSession(keyOf('one')));
  if (inner === undefined) throw new Error('onDataLoss was not called');
  await service.close();
  return { inner: await inner, first };
}

/** Fills the database for longer than calls wait. Returns the outcomes of the calls. */
async function refillSlowly(name: string): Promise<{ failed: Failure[]; events: string[] }> {
  let go = (): void => undefined;
  const mayEnd = new Promise<void>((resolve) => (go = resolve));
  let asked = 0;
  const service = new IndexedDbSessionService({
    name,
    timeoutMs: SHORT,
    onDataLoss: async (_loss, service) => {
      asked += 1;
      const session = await persist(() => service.getOrCreateSession(keyOf('one')));
      await mayEnd;
      await service.appendEvent({ session, event: mark(`refilled ${asked}`) });
    },
  });
  const read = () => service.getSession(keyOf('one'));
  const failed = [await failure(read), await failure(read)];
  go();
  const events = idsOf(await persist(read));
  await service.close();
  return { failed, events };
}

/** A page that cannot remember anything outside of IndexedDB. */
async function openWithoutCaches(name: string): Promise<string[]> {
  const refused = () => Promise.reject(new DOMException('It is not for you.', 'SecurityError'));
  const seen: string[] = [];
  for (const value of [undefined, { has: refused, open: refused, delete: refused }]) {
    Object.defineProperty(globalThis, 'caches', { value, configurable: true });
    const service = new IndexedDbSessionService({ name, onDataLoss: () => undefined });
    const session = await service.getOrCreateSession(keyOf('one'));
    seen.push(...idsOf(session));
    await service.appendEvent({ session, event: mark(`event ${seen.length}`) });
    await service.close();
  }
  await IndexedDbSessionService.deleteDatabase(name);
  return seen;
}

function refuseWrongOption(): Promise<Failure> {
  return failure(() => new IndexedDbSessionService({ onDataLoss: 'reload' as never }));
}
