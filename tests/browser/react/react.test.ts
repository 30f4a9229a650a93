// The hooks in real pages, with React 18 and React 19.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  createElement,
  type ReactElement,
  startTransition,
  StrictMode,
  Suspense,
  useEffect,
  useState,
} from 'react';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { InMemorySessionService } from '../../../js/index.js';
import { type LiveSession, liveSession, type RunAgent } from '../../../js/ui/live/index.js';
import {
  SessionProvider,
  useArtifact,
  useSession,
  useSessionState,
} from '../../../js/ui/react/index.js';
import { CORE } from '../../../js/core/core_of.js';
import { root as repository } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { pageScript } from '../page_script.js';
import { serveModule, type Server } from '../server.js';
import type { Tab } from '../tab.js';

export function page() {
  return {
    converse,
    tear,
    leaveEarly,
    suspend,
    suspendMany,
    showRows,
    showFiles,
    hydrate,
    switchSessions,
    signIn,
  };
}

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const event = (id: string) => ({ id, invocationId: 'i1', author: 'user' });

const pause = (milliseconds = 0): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));

/** Waits until the condition is fulfilled. */
async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000; tries += 1) {
    if (condition()) return;
    await pause(10);
  }
  throw new Error(
    `it did not happen: ${condition.toString()}; the page has ${document.body.innerText}`,
  );
}

async function serviceOf(count: number): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  for (let turn = 1; turn <= count; turn += 1) {
    await service.appendEvent({ session, event: event(`e${turn}`) });
  }
  return service;
}

function mount(element: ReactElement): { root: Root; text: () => string } {
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  root.render(createElement(StrictMode, null, element));
  return { root, text: () => container.textContent ?? '' };
}

const provide = (
  service: InMemorySessionService,
  child: ReactElement,
  sessionId = KEY.sessionId,
  run?: RunAgent,
): ReactElement =>
  createElement(
    SessionProvider,
    { service, appName: 'shop', userId: 'ada', sessionId, run },
    child,
  );

/** A page before a login has nothing, and the session of its user after it. */
async function signIn(): Promise<readonly string[]> {
  const service = await serviceOf(2);
  const Chat = (): ReactElement => {
    const { status, events } = useSession().session;
    return createElement('p', null, `${status} ${events.length}`);
  };
  const { root, text } = mount(createElement('p', null, 'white'));
  const seen: string[] = [];
  for (const userId of [undefined, 'ada', undefined]) {
    const names = { service, ...KEY, userId };
    root.render(createElement(SessionProvider, names, createElement(Chat)));
    const expected = userId === undefined ? 'missing 0' : 'ready 2';
    await until(() => text() === expected && isWatched(service) === (userId !== undefined));
    seen.push(text());
  }
  root.unmount();
  return seen;
}

/** Takes so long that React interrupts the rendering of a list of them. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

const isWatched = (service: InMemorySessionService): boolean =>
  service[CORE].publisher.hasReceivers;

/** A chat is shown, grows by an append of another and by its own, and leaves nothing behind. */
async function converse(): Promise<string[]> {
  const service = await serviceOf(2);
  const shown: string[] = [];
  let send: (() => Promise<unknown>) | undefined;
  function Chat(): ReactElement {
    const { session, store } = useSession();
    const { status, events } = session;
    const { value: topic, set: setTopic } = useSessionState('topic', 'none');
    send = async () => {
      await store.send(event('e4'));
      await setTopic((last) => `${last ?? ''}tea`);
    };
    return createElement('p', null, `${status} ${events.length} ${topic}`);
  }
  const { root, text } = mount(provide(service, createElement(Chat)));
  await until(() => text() === 'ready 2 none');
  shown.push(text());
  const session = await service.getSession(KEY);
  if (session) await service.appendEvent({ session, event: event('e3') });
  await until(() => text() === 'ready 3 none');
  await send?.();
  await until(() => text() === 'ready 5 tea');
  shown.push(text(), String(isWatched(service)));
  root.unmount();
  await until(() => !isWatched(service));
  shown.push(String(isWatched(service)));
  return shown;
}

/**
 * Many slow components show the same session. It changes while React renders them in a transition, which it does in
 * slices. Returns how many commits showed different numbers of events.
 *
 * @param isRaw the components read the store past the hook, as none may: React does not know what they have read
 */
async function tear(isRaw: boolean): Promise<{ torn: number; commits: number }> {
  const service = await serviceOf(1);
  const result = { torn: 0, commits: 0 };
  let show: ((round: number) => void) | undefined;
  const store = liveSession(service, KEY);
  const stop = store.subscribe(() => undefined);
  await store.load();
  const useNumber = (): number =>
    isRaw ? store.getSnapshot().events.length : useSession().session.events.length;
  function Slow({ round }: { round: number }): ReactElement {
    const count = useNumber();
    work(4);
    return createElement('i', { className: 'count', title: String(round) }, `${count} `);
  }
  function All(): ReactElement {
    const [round, setRound] = useState(0);
    show = setRound;
    const slow = Array.from({ length: 10 }, (_, key) => createElement(Slow, { key, round }));
    return createElement('div', { id: 'all' }, slow);
  }
  const { root, text } = mount(provide(service, createElement(All)));
  await until(() => text() === '1 '.repeat(10));
  const all = document.querySelector('#all');
  const shown = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.count')];
  // Called once for each commit.
  const observer = new MutationObserver(() => {
    result.commits += 1;
    if (new Set(shown().map(({ textContent }) => textContent)).size > 1) result.torn += 1;
  });
  if (all) observer.observe(all, { subtree: true, characterData: true, attributes: true });
  const session = await service.getSession(KEY);
  for (let round = 1; round <= 8 && session; round += 1) {
    startTransition(() => show?.(round));
    await pause(12);
    await service.appendEvent({ session, event: event(`n${round}`) });
    await until(() => shown().every(({ title }) => title === String(round)));
  }
  await until(() => isRaw || text() === '9 '.repeat(10));
  stop();
  observer.disconnect();
  root.unmount();
  return result;
}

/** Components go in the middle of their first read. */
async function leaveEarly(): Promise<string[]> {
  const service = await serviceOf(3);
  const errors: string[] = [];
  addEventListener('unhandledrejection', ({ reason }) => errors.push(String(reason)));
  addEventListener('error', ({ message }) => errors.push(message));
  const Chat = (): ReactElement => createElement('p', null, useSession().session.status);
  for (let turn = 0; turn < 10; turn += 1) {
    const { root } = mount(provide(service, createElement(Chat)));
    await pause(turn % 3);
    root.unmount();
  }
  await until(() => !isWatched(service));
  // The reads that nobody waits for have ended, and the browser has reported their errors.
  await service.close();
  await pause();
  return errors;
}

/** Returns what a boundary shows one after the other. */
async function suspend(): Promise<string[]> {
  // The service opens late, as a database does.
  let open: (service: InMemorySessionService) => void = () => undefined;
  const opening = new Promise<InMemorySessionService>((resolve) => (open = resolve));
  const seen: string[] = [];
  function Chat(): ReactElement {
    const { status, events } = useSession({ suspense: true }).session;
    return createElement('p', null, `${status} ${events.length}`);
  }
  const boundary = createElement(Suspense, { fallback: 'wait' }, createElement(Chat));
  const { root, text } = mount(
    createElement(SessionProvider, { service: opening, ...KEY }, boundary),
  );
  await until(() => text() === 'wait');
  seen.push(text());
  const service = await serviceOf(2);
  open(service);
  await until(() => text() === 'ready 2');
  seen.push(text());
  const session = await service.getSession(KEY);
  if (session) await service.appendEvent({ session, event: event('e3') });
  await until(() => text() === 'ready 3');
  seen.push(text());
  root.unmount();
  await until(() => !isWatched(service));
  return seen;
}

/** One boundary waits for many sessions. Returns how many it shows in the end. */
async function suspendMany(count: number): Promise<number> {
  const service = await serviceOf(1);
  function Chat({ sessionId }: { sessionId: string }): ReactElement {
    const { status } = useSession({ sessionId, suspense: true }).session;
    return createElement('i', null, `${status} `);
  }
  const chats = Array.from({ length: count }, (_, key) =>
    createElement(Chat, { key, sessionId: `none${key}` }),
  );
  const boundary = createElement(Suspense, { fallback: 'wait' }, chats);
  const { root, text } = mount(provide(service, boundary));
  await until(() => text() === 'missing '.repeat(count));
  const shown = text().split(' ').length - 1;
  root.unmount();
  await until(() => !isWatched(service));
  return shown;
}

/**
 * Shows a chat beside a row for each of many sessions. Returns how many reads that took, whether an edit has aborted the
 * chat's run, and what the chat shows of a streamed answer.
 */
async function showRows(
  count: number,
): Promise<{ reads: number; wasAborted: boolean; draft: string }> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  const content = { role: 'user', parts: [{ text: 'Which tea?' }] };
  await service.appendEvent({ session, event: { ...event('e1'), content } });
  let reads = 0;
  const read = service.getSession.bind(service);
  service.getSession = (request) => {
    reads += 1;
    return read(request);
  };
  let chat: LiveSession | undefined;
  let wasAborted = false;
  const run: RunAgent = async function* ({ signal }) {
    yield { author: 'guide', partial: true, content: { parts: [{ text: 'Green' }] } };
    await new Promise<void>((done) => signal.addEventListener('abort', () => done()));
    wasAborted = true;
  };
  function Chat(): ReactElement {
    const { session, store } = useSession();
    chat = store;
    const drafts = session.drafts.map(({ content }) => content?.parts?.[0]?.text);
    return createElement('p', { id: 'chat' }, `${session.status} ${drafts.join()}`);
  }
  const Row = ({ sessionId }: { sessionId: string }): ReactElement =>
    createElement('i', null, useSession({ sessionId }).session.status);
  const rows = Array.from({ length: count }, (_, key) =>
    createElement(Row, { key, sessionId: `none${key}` }),
  );
  const all = createElement('div', null, createElement(Chat), rows);
  const { root, text } = mount(provide(service, all, KEY.sessionId, run));
  await until(() => text() === `ready ${'missing'.repeat(count)}`);
  const wholeReads = reads;
  await chat?.ask({ parts: [{ text: 'And now?' }] });
  await until(() => text().startsWith('ready Green'));
  const draft = document.querySelector('#chat')?.textContent ?? '';
  await chat?.edit('e1', { parts: [{ text: 'edited' }] });
  await chat?.cancel();
  root.unmount();
  await until(() => !isWatched(service));
  return { reads: wholeReads, wasAborted, draft };
}

/**
 * Shows a picture, then HTML in a frame. Returns the width of the picture, whether the script of the HTML has run, and
 * whether the URLs end with their components.
 */
async function showFiles(): Promise<{ width: number; hasRun: boolean; areRevoked: boolean }> {
  const service = new InMemorySessionService({ artifacts: true });
  await service.createSession(KEY);
  const canvas = document.createElement('canvas');
  canvas.width = 7;
  const picture = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  const script = new Blob(['<script>parent.hasRun = true</script>'], { type: 'text/html' });
  await service.artifacts.put({ ...KEY, filename: 'tea.png', data: picture ?? script });
  await service.artifacts.put({ ...KEY, filename: 'page.html', data: script });
  const urls: string[] = [];
  let width = 0;
  let show: ((tag: 'img' | 'iframe') => void) | undefined;
  function File({ tag }: { tag: 'img' | 'iframe' }): ReactElement {
    const { url } = useArtifact({ name: tag === 'img' ? 'tea.png' : 'page.html' });
    if (url !== undefined) urls.push(url);
    return createElement(tag, {
      src: url,
      onLoad: ({ target }: { target: Partial<HTMLImageElement> }) =>
        (width ||= target.naturalWidth ?? 0),
    });
  }
  function App(): ReactElement {
    const [tag, setTag] = useState<'img' | 'iframe'>('img');
    show = setTag;
    return createElement(File, { key: tag, tag });
  }
  const { root } = mount(provide(service, createElement(App)));
  await until(() => width > 0);
  show?.('iframe');
  await until(() => (document.querySelector('iframe')?.src ?? '').startsWith('blob:'));
  await pause(300);
  root.unmount();
  await pause();
  const opened = await Promise.allSettled(urls.map((url) => fetch(url)));
  return {
    width,
    hasRun: 'hasRun' in globalThis,
    areRevoked: opened.every(({ status }) => status === 'rejected'),
  };
}

/** Takes over the text that a server rendered. */
async function hydrate(): Promise<string[]> {
  const service = await serviceOf(2);
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = '<p>loading 0</p>';
  const errors: string[] = [];
  function Chat(): ReactElement {
    const { status, events } = useSession().session;
    return createElement('p', null, status, ' ', events.length);
  }
  container.innerHTML = '<p>loading<!-- --> <!-- -->0</p>';
  const root = hydrateRoot(container, provide(service, createElement(Chat)), {
    onRecoverableError: (error) => errors.push(String(error)),
  });
  await until(() => container.textContent === 'ready 2');
  root.unmount();
  return errors;
}

/** The bytes on the heap after a collection of garbage. Only Chromium tells them, and is told to collect. */
async function heapSize(): Promise<number> {
  const { gc, performance } = globalThis as {
    gc?: () => void;
    performance: { memory?: { usedJSHeapSize: number } };
  };
  for (let turn = 0; turn < 5; turn += 1) {
    gc?.();
    await pause(20);
  }
  return performance.memory?.usedJSHeapSize ?? 0;
}

/**
 * One component shows many sessions, one after the other. Returns how many stores are still watched and kept, and how
 * much the heap has grown since the first 100. Each session has 20 KB.
 */
async function switchSessions(
  count: number,
): Promise<{ shown: number; isWatched: boolean; kept: number; growth: number }> {
  const service = new InMemorySessionService();
  for (let turn = 0; turn < count; turn += 1) {
    const session = await service.createSession({ ...KEY, sessionId: `s${turn}` });
    const content = { role: 'user', parts: [{ text: `${turn} `.repeat(5000) }] };
    await service.appendEvent({ session, event: { ...event(`e${turn}`), content } });
  }
  const stores = new Set<WeakRef<object>>();
  let heap = 0;
  let shown = 0;
  let show: ((turn: number) => void) | undefined;
  let last = '';
  function Chat({ sessionId }: { sessionId: string }): ReactElement {
    const { session, store } = useSession({ sessionId });
    useEffect(() => void stores.add(new WeakRef(store)), [store]);
    last = session.events[0]?.id ?? '';
    return createElement('p', null, last);
  }
  function App(): ReactElement {
    const [turn, setTurn] = useState(0);
    show = setTurn;
    return createElement(Chat, { sessionId: `s${turn}` });
  }
  const { root } = mount(
    createElement(SessionProvider, { service, appName: 'shop', userId: 'ada' }, createElement(App)),
  );
  // A store that nobody uses stays for some minutes.
  const clock = performance.now.bind(performance);
  let passed = 0;
  performance.now = () => clock() + passed;
  for (let turn = 0; turn < count; turn += 1) {
    passed += 10_000;
    show?.(turn);
    await until(() => last === `e${turn}`);
    shown += 1;
    if (shown === 100) heap = await heapSize();
  }
  root.unmount();
  await until(() => !service[CORE].publisher.hasReceivers);
  Reflect.deleteProperty(performance, 'now');
  const growth = (await heapSize()) - heap;
  const kept = [...stores].filter((store) => store.deref() !== undefined).length;
  return { shown, isWatched: service[CORE].publisher.hasReceivers, kept, growth };
}

/** The folder of node_modules with each version. React 19 is what the sources are compiled with. */
const VERSIONS = {
  'React 18': (): string => {
    const folder = installPackages('react_18');
    return join(folder, 'node_modules');
  },
  'React 19': (): string => join(repository, 'node_modules'),
};

describe('The hooks', () => {
  for (const [version, modulesOf] of Object.entries(VERSIONS)) {
    let site: Server;
    before(async () => {
      const modules = modulesOf();
      const script = await pageScript(import.meta.url, {
        // As it is shipped: the development build renders everything twice in StrictMode.
        define: { 'process.env.NODE_ENV': '"development"' },
        alias: { react: join(modules, 'react'), 'react-dom': join(modules, 'react-dom') },
      });
      site = await serveModule(script);
    });
    after(() => site.close());

    for (const name of BROWSERS) {
      describe(`${version} in ${name}`, () => {
        let browser: Browser;
        let tab: Tab<ReturnType<typeof page>>;
        before(async () => {
          const forHeap = ['--js-flags=--expose-gc', '--enable-precise-memory-info'];
          browser = await openBrowser(name, name === 'chromium' ? { arguments: forHeap } : {});
          tab = await browser.openTab(`${site.origin}/`);
        });
        after(() => browser.close());

        it('shows a session, sends, changes its state, and leaves nothing behind', async () => {
          const shown = await tab.call('converse');
          assert.deepEqual(shown, ['ready 2 none', 'ready 5 tea', 'true', 'false']);
        });

        it('never shows two states of a session at once', async () => {
          const { torn, commits } = await tab.call('tear', false);
          assert.equal(torn, 0);
          assert.ok(commits >= 8, `${commits} commits`);
          // The same page shows tearing if a component reads the store past the hook.
          assert.ok((await tab.call('tear', true)).torn > 0);
        });

        it('may unmount in the middle of the first read', async () => {
          assert.deepEqual(await tab.call('leaveEarly'), []);
        });

        it('shows a picture, runs no HTML, and revokes their URLs', async () => {
          const shown = await tab.call('showFiles');
          assert.deepEqual(shown, { width: 7, hasRun: false, areRevoked: true });
        });

        it('suspends until the session has been read', async () => {
          assert.deepEqual(await tab.call('suspend'), ['wait', 'ready 2', 'ready 3']);
        });

        it('suspends until many sessions have been read', async () => {
          assert.equal(await tab.call('suspendMany', 50), 50);
        });

        it('reads each of 60 rows once, and streams and edits in the chat beside them', async () => {
          const { reads, wasAborted, draft } = await tab.call('showRows', 60);
          assert.deepEqual([reads, wasAborted, draft], [61, true, 'ready Green']);
        });

        it('has a missing session before a login, and the real one after it', async () => {
          assert.deepEqual(await tab.call('signIn'), ['missing 0', 'ready 2', 'missing 0']);
        });

        it('takes over what the server rendered', async () => {
          assert.deepEqual(await tab.call('hydrate'), []);
        });

        it('shows many sessions one after the other, and keeps few stores', async () => {
          // Only Chromium is told to collect garbage, and tells how large its heap is.
          const count = name === 'chromium' && version === 'React 19' ? 1000 : 200;
          const { shown, isWatched, kept, growth } = await tab.call('switchSessions', count);
          assert.deepEqual([shown, isWatched], [count, false]);
          if (name !== 'chromium') return;
          assert.ok(kept <= 25, `${kept} stores`);
          // The sessions that were shown since have 18 MB.
          assert.ok(growth < 2_000_000, `${growth} bytes`);
        });
      });
    }
  }
});
