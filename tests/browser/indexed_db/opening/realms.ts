// The kinds of realm that a browser has, each with a script of the package; see ./realm.ts.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { idsOf, keyOf } from '../page/events.js';
import { Feed } from '../page/feed.js';
import { rows } from '../page/bare.js';
import { type Done, type Task, work } from '../page/opening/task.js';

/** What the tests call in the page. */
export const inPage = { workIn };
type Page = typeof inPage;

const SCOPES: Record<Realm, string> = {
  page: 'Window',
  'dedicated worker': 'DedicatedWorkerGlobalScope',
  'shared worker': 'SharedWorkerGlobalScope',
  'service worker': 'ServiceWorkerGlobalScope',
};

export function realms(context: Context): void {
  for (const [realm, scope] of Object.entries(SCOPES) as [Realm, string][]) {
    it(`IndexedDB works in a ${realm}, and a page is notified`, async () => {
      await inTab<Page>(context, async (tab) => {
        const seen = await tab.call('workIn', realm, newName());
        const events = ['1', '2', '3'].map((number) => `of a ${realm} ${number}`);
        assert.equal(seen.scope, scope);
        assert.deepEqual([seen.storage.kind, seen.storage.durable], ['indexeddb', true]);
        assert.deepEqual(seen.events, events);
        assert.deepEqual(seen.read, events);
        assert.equal(seen.yielded, seen.revision);
      });
    });
  }
}

type Realm = 'page' | 'dedicated worker' | 'shared worker' | 'service worker';

interface RealmReport extends Done {
  /** The data that this page reads of it, and whether its feed sent a notice. */
  read: string[];
  revision: unknown;
  yielded: number | undefined;
}

/** Has the realm do its work while this page watches. */
async function workIn(realm: Realm, name: string): Promise<RealmReport> {
  const service = new IndexedDbSessionService({ name });
  const feed = new Feed(service, { appName: keyOf('').appName });
  const sessionId = `of a ${realm}`;
  const done = await START[realm]({ name, sessionId });
  const row = (await rows(name, 'sessions')).find((row) => row.sessionId === sessionId);
  const last = (): number | undefined => feed.revisions()[sessionId]?.at(-1);
  await feed.until(() => last() === row?.revision);
  const read = idsOf(await service.getSession(keyOf(sessionId)));
  await feed.stop();
  await service.close();
  return { ...done, read, revision: row?.revision, yielded: last() };
}

const SCRIPT = '/realm.js';

const START: Record<Realm, (task: Task) => Promise<Done>> = {
  page: work,

  async 'dedicated worker'(task) {
    const worker = new Worker(SCRIPT);
    const done = await ask(worker, task, worker);
    worker.terminate();
    return done;
  },

  'shared worker'(task) {
    const worker = new SharedWorker(SCRIPT);
    return ask(worker.port, task, worker);
  },

  async 'service worker'(task) {
    const registration = await navigator.serviceWorker.register(SCRIPT);
    const { active } = await navigator.serviceWorker.ready;
    if (active === null) throw new Error('the service worker is not active');
    const done = await ask(active, task, active);
    await registration.unregister();
    return done;
  },
};

interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
}

function ask(port: Port, task: Task, worker: EventTarget): Promise<Done> {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<{ done?: Done; error?: string }>) => {
      if (data.done) resolve(data.done);
      else reject(new Error(data.error));
      port1.close();
    };
    worker.addEventListener('error', (event) => {
      reject(new Error(`the worker failed: ${(event as ErrorEvent).message}`));
    });
    port.postMessage(task, [port2]);
  });
}
