// Appends and files without free space in the browser.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import { type BrowserName, openBrowser } from '../../browser.js';
import { type Context, inTab, newName } from '../context.js';
import { serveSite } from '../site.js';
import type { Tab } from '../../tab.js';
import { around } from '../page/around.js';
import { type Failure, failure, idsOf, keyOf, mark, numbers, say } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { fill, goOnWithRoom, refuseRoom, giveRoomAgain };
type Page = typeof inPage;

/** Bytes; Firefox has no smaller quota than this one. */
const QUOTA = 10 * 1024 * 1024;

interface Way {
  /** A separate browser, if the quota is a setting of the browser. */
  preferences?: Record<string, number>;
  take: (context: Context, tab: Tab<Page>) => Promise<void>;
  give: (context: Context, tab: Tab<Page>) => Promise<void>;
}

const WAYS: Record<BrowserName, Way> = {
  chromium: {
    async take({ browser, site: { origin } }) {
      await browser.debug('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA });
    },
    async give({ browser, site: { origin } }) {
      await browser.debug('Storage.overrideQuotaForOrigin', { origin });
    },
  },
  firefox: {
    preferences: { 'dom.quotaManager.temporaryStorage.fixedLimit': QUOTA / 1024 },
    take: async () => undefined,
    // Deleting data frees space.
    give: async () => undefined,
  },
  // WebKitGTK has a quota, but nothing by which a test could set it.
  webkit: {
    take: (_, tab) => tab.call('refuseRoom', 10),
    give: (_, tab) => tab.call('giveRoomAgain'),
  },
};

export function quota(context: Context, browserName: BrowserName): void {
  it('an append or a file beyond the quota is refused, and changes no stored data', async () => {
    const { preferences, take, give } = WAYS[browserName];
    // A separate origin, because Chromium caches an origin's free space for half a minute.
    const site = await serveSite();
    const browser = preferences ? await openBrowser(browserName, { preferences }) : context.browser;
    const own: Context = { browser, site };
    try {
      await inTab<Page>(own, async (tab) => {
        await take(own, tab);
        assertRefused(await tab.call('fill', newName()));
        await give(own, tab);
        const { small, sessions } = await tab.call('goOnWithRoom');
        assert.deepEqual(small, [...SMALL, 'after']);
        assert.equal(sessions, 1);
      });
    } finally {
      if (browser !== context.browser) await browser.close();
      await site.close();
    }
  });
}

const SMALL = ['00000', '00001', '00002'];

function assertRefused({ failed, file, handle, together, small, big, stored }: QuotaResult): void {
  assert.equal(failed.code, 'quota_exceeded');
  const codes = Array.from({ length: 3 }, () => 'quota_exceeded');
  assert.deepEqual(file, { codes, versions: [], before: 1000 }, 'bytes, a Blob and a stream');
  assert.equal(handle[1], handle[0], 'the handle is as it was');
  // Firefox finds room for another one now and then.
  const others = together.filter((code) => code !== 'stored' && code !== 'quota_exceeded');
  assert.deepEqual(others, [], 'several at once are stored or refused for the same reason');
  assert.deepEqual(small, SMALL, 'earlier data is read');
  assert.ok(stored.length > 0, 'some was stored before');
  assert.deepEqual(big, stored, 'what was acknowledged is read, and nothing else');
}

/** Characters an event: some of them fill a small quota, and one is little against what is left of it. */
const SIZE = 256 * 1024;
/** More than any quota here. */
const LIMIT = 200;

interface QuotaResult {
  failed: Failure;
  /** A file that has no room, and the size of one that was stored before. */
  file: { codes: (string | undefined)[]; versions: number[]; before: number | undefined };
  /** The handle as JSON, before the append that failed and after it. */
  handle: [string, string];
  /** The codes of concurrent appends without free space. */
  together: string[];
  small: string[];
  big: string[];
  /** The acknowledged events. */
  stored: string[];
}

let service: IndexedDbSessionService | undefined;

/** Appends until there is no room left, and reads what was there before. */
async function fill(name: string): Promise<QuotaResult> {
  service = new IndexedDbSessionService({ name, artifacts: true });
  const small = await service.createSession(keyOf('small'));
  await service.appendEvents({ session: small, events: numbers(3).map(mark) });
  const big = await service.createSession(keyOf('big'));
  await service.artifacts.put({ ...keyOf('small'), filename: 'small', data: new Uint8Array(1000) });
  const stored: string[] = [];
  for (const number of numbers(LIMIT)) {
    const before = handleOf(big);
    const outcome = await append(service, big, `big-${number}`);
    if (outcome === undefined) {
      stored.push(`big-${number}`);
      continue;
    }
    const after = handleOf(big);
    const more = numbers(4).map((more) => `more-${more}`);
    const outcomes = await Promise.all(more.map((id) => append(service!, big, id)));
    stored.push(...more.filter((_, place) => outcomes[place] === undefined));
    return {
      failed: outcome,
      file: await putTooLarge(service),
      handle: [before, after],
      together: outcomes.map((failed) => failed?.code ?? 'stored'),
      small: idsOf(await service.getSession(keyOf('small'))),
      big: idsOf(await service.getSession(keyOf('big'))),
      stored,
    };
  }
  throw new Error(`there was room for all ${LIMIT} events`);
}

/** Puts a file that is larger than the quota. */
async function putTooLarge({ artifacts }: IndexedDbSessionService): Promise<QuotaResult['file']> {
  const [large, small] = ['large', 'small'].map((filename) => ({ ...keyOf('small'), filename }));
  const data = new Uint8Array(2 * QUOTA);
  const failed = [];
  for (const given of [data, new Blob([data]), new Blob([data]).stream()]) {
    failed.push(await failure(() => artifacts.put({ ...large!, data: given })));
  }
  const versions = await artifacts.listVersions(large!);
  const codes = failed.map(({ code, message }) => (code === 'quota_exceeded' ? code : message));
  return { codes, versions, before: (await artifacts.open(small!))?.size };
}

async function append(
  service: IndexedDbSessionService,
  session: Session,
  id: string,
): Promise<Failure | undefined> {
  try {
    await service.appendEvent({ session, event: say(id, { [id]: id }, noise()) });
    return undefined;
  } catch (error) {
    return failure(() => {
      throw error;
    });
  }
}

/** The handle as far as an append may change it; its texts are long. */
function handleOf(session: Session): string {
  const { state, lastUpdateTime } = session;
  return JSON.stringify([idsOf(session), state, lastUpdateTime]);
}

/** Text that no browser makes smaller. */
function noise(): string {
  let text = '';
  while (text.length < SIZE) {
    const values = crypto.getRandomValues(new Uint8Array(32 * 1024));
    text += String.fromCharCode(...values.map((value) => 35 + (value % 57)));
  }
  return text;
}

/** The same service, when there is room again. */
async function goOnWithRoom(): Promise<{ small: string[]; sessions: number }> {
  if (service === undefined) throw new Error('fill comes first');
  await service.deleteSession(keyOf('big'));
  const session = await service.getSession(keyOf('small'));
  if (session === undefined) throw new Error('the session is gone');
  await service.appendEvent({ session, event: mark('after') });
  const read = idsOf(await service.getSession(keyOf('small')));
  const { totalItems } = await service.listSessions({ appName: session.appName });
  await service.close();
  return { small: read, sessions: totalItems };
}

/**
 * Simulates a full quota in a browser without a quota setting: aborts each transaction at its commit, like a browser
 * without free space, and that of a file at its last put, since it commits by itself. All requests have succeeded, and
 * only the transaction has an error.
 */
function refuseRoom(after: number): void {
  let room = after;
  const refuse = (transaction: IDBTransaction): void => {
    const error = new DOMException('There is no room.', 'QuotaExceededError');
    Object.defineProperty(transaction, 'error', { value: error, configurable: true });
    const store = transaction.objectStore(transaction.objectStoreNames[0]!);
    store.getKey('nothing').onsuccess = () => transaction.abort();
  };
  const giveCommits = around(
    IDBTransaction.prototype,
    'commit',
    (transaction, _values, proceed) => {
      if (transaction.mode !== 'readwrite' || (room -= 1) >= 0) return proceed();
      refuse(transaction);
      return undefined;
    },
  );
  const givePuts = around(IDBObjectStore.prototype, 'put', (store, values, proceed) => {
    const request = proceed(...values);
    if (room < 0 && store.name === 'bytes') refuse(store.transaction);
    return request;
  });
  giveRoom = () => {
    giveCommits();
    givePuts();
  };
}

let giveRoom = (): void => undefined;

function giveRoomAgain(): void {
  giveRoom();
}
