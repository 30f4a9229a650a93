// Cloudflare D1, in miniflare's workerd: the conformance suite, and the example of a Worker.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { liveSession, type LiveSession, type LiveSessionSnapshot } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { openBrowser } from '../../browser/browser.js';
import { bundleWithEsbuild } from '../bundles.js';
import { type Isolate, inMiniflare } from '../hosts/miniflare.js';
import { LARGE_ROWS, outcomesOf } from '../hosts/workerd.js';
import { linkPackage, root, write } from '../installed.js';

before(() => linkPackage('kysely'));

/** A worker that runs a case of the suite over tables of its own, and answers with what failed. */
const SUITE = `
  import { D1SessionService } from 'adk-session-wasm/database';
  import { conformance } from 'adk-session-wasm/testing';

  async function fetch(request, { DB }) {
    const number = new URL(request.url).searchParams.get('case');
    let opened = 0;
    const cases = conformance((options) => {
      opened += 1;
      return new D1SessionService(DB, { ...options, tablePrefix: \`c\${number}_\${opened}_\` });
    });
    const { name, run } = cases[number];
    const message = await run().then(() => 'holds', (error) => String(error.stack));
    return Response.json({ name, message, count: cases.length });
  }
  export default { fetch };`;

describe('D1SessionService', () => {
  it('passes the conformance suite, except for a row of more than 2 MB', async () => {
    await inMiniflare('d1_suite', { 'main.js': SUITE }, async ([isolate]) => {
      const outcomes = await outcomesOf((query) => isolate!.fetch(`http://localhost/${query}`));
      assert.deepEqual(outcomes, LARGE_ROWS);
    });
  });
});

const example = readFileSync(join(root, 'examples/d1_worker.ts'), 'utf8');
const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const CLIENTS = 20;
const EVENTS = 50;

/** @param writing what takes the messages */
function remoteOf(isolate: Isolate, writing = isolate): RemoteSessionService {
  const fetch = ((url: string, init: { method?: string }) =>
    (init.method === 'POST' ? writing : isolate).fetch(
      url,
      init,
    )) as unknown as typeof globalThis.fetch;
  return new RemoteSessionService({ url: 'http://localhost/api', fetch });
}

describe('The example d1_worker.ts', () => {
  it('loses no append of 20 clients at two isolates to one session, and keeps the order of each', async () => {
    const main = "export { default } from './d1_worker.ts';";
    const files = { 'main.js': main, 'd1_worker.ts': example };
    await inMiniflare('d1_isolates', files, async (isolates) => {
      const services = isolates.map((isolate) => remoteOf(isolate));
      await services[0]!.createSession(KEY);
      const clients = Array.from({ length: CLIENTS }, (_, client) => client);
      const events = Array.from({ length: EVENTS }, (_, event) => event);
      const idOf = (client: number, event: number) => `client ${client}, event ${event}`;
      await Promise.all(
        clients.map(async (client) => {
          const service = services[client % services.length]!;
          const session = await service.getSession(KEY);
          for (const event of events) {
            const sent = { id: idOf(client, event), invocationId: 'i', author: 'user' };
            await service.appendEvent({ session: session!, event: sent });
          }
        }),
      );
      const session = await services[1]!.getSession(KEY);
      const stored = session!.events.map(({ id }) => id);
      assert.equal(stored.length, CLIENTS * EVENTS);
      for (const client of clients) {
        const own = stored.filter((id) => id.startsWith(`client ${client},`));
        assert.deepEqual(
          own,
          events.map((event) => idOf(client, event)),
        );
      }
      for (const service of services) await service.close();
    });
  });

  it('shows the run to the page that asks with its drafts, and to another page as running elsewhere', async () => {
    const worker = example.replace(/ {2}const asked = [\s\S]*?\n};/, SLOW_AGENT);
    assert.notEqual(worker, example);
    const main = "export { default } from './d1_worker.ts';";
    const files = { 'main.js': main, 'd1_worker.ts': worker };
    await inMiniflare('d1_runs', files, async ([first, second]) => {
      // The feed comes from the first isolate, and the second one takes the message.
      const asking = remoteOf(first!, second);
      const watching = remoteOf(first!);
      await asking.createSession(KEY);
      const pages = [asking, watching].map((service) => {
        const chat = liveSession(service, KEY);
        const shown: LiveSessionSnapshot[] = [];
        const stop = chat.subscribe((snapshot) => void shown.push(snapshot));
        return { chat, shown, stop };
      });
      const [asker, watcher] = pages as [(typeof pages)[0], (typeof pages)[0]];
      await Promise.all(pages.map(({ chat }) => chat.load()));
      await asker.chat.ask('Which tea?');
      await until(asker, ({ events, run }) => run === undefined && events.length === 2);
      await until(watcher, ({ events, run }) => run === undefined && events.length === 2);
      const drafts = asker.shown.map(({ drafts }) => drafts[0]?.content?.parts?.[0]?.text);
      assert.ok(drafts.includes('You asked '), JSON.stringify(drafts));
      const runsOf = ({ shown }: (typeof pages)[0]) =>
        new Set(shown.map(({ run }) => (run?.isElsewhere ? 'elsewhere' : run?.status)));
      assert.deepEqual([...runsOf(asker)], [undefined, 'queued', 'running']);
      assert.deepEqual([...runsOf(watcher)], [undefined, 'elsewhere']);
      for (const { stop } of pages) stop();
      for (const service of [asking, watching]) await service.close();
    });
  });

  it('answers a page', async () => {
    const page = await bundleWithEsbuild(write('d1_page', { 'main.js': PAGE }));
    const files = {
      'main.js': SITE,
      'd1_worker.ts': example,
      'page.txt': readFileSync(join(page, 'main.js'), 'utf8'),
    };
    const browser = await openBrowser('chromium');
    try {
      await inMiniflare('d1_site', files, async (_, origin) => {
        const answers = await browser.value(`${origin}/`);
        assert.deepEqual(answers, ['Which tea?', 'You asked "Which tea?".']);
      });
    } finally {
      await browser.close();
    }
  });
});

/** An agent that streams for three seconds: longer than a feed takes to ask the database. */
const SLOW_AGENT = `
  const model = (text: string) => ({ role: 'model', parts: [{ text }] });
  for (const text of ['You asked ', 'for tea.']) {
    yield { author: 'guide', partial: true, content: model(text) };
    await new Promise((next) => setTimeout(next, 1500));
  }
  yield { author: 'guide', content: model(\`You asked for tea. \${message.id}\`) };
};`;

/** Waits until a page shows something. */
async function until(
  { chat }: { readonly chat: LiveSession },
  isShown: (snapshot: LiveSessionSnapshot) => boolean,
): Promise<void> {
  await new Promise<void>((resolve) => {
    chat.subscribe((snapshot) => void (isShown(snapshot) && resolve()));
  });
}

/** A page that asks the agent, and reports the texts of the session. */
const PAGE = `
  import { RemoteSessionService } from 'adk-session-wasm/remote';
  import { liveSession } from 'adk-session-wasm/live';

  const service = new RemoteSessionService({ url: location.origin + '/api' });
  const chat = liveSession(service, ${JSON.stringify(KEY)});
  globalThis.report = new Promise((resolve, reject) => {
    chat.subscribe(({ events, run }) => {
      const texts = events.map(({ content }) => content?.parts?.[0]?.text);
      if (run === undefined && events.at(-1)?.author === 'guide') resolve(texts);
    });
    chat.ask('Which tea?').catch(reject);
  });`;

/** The worker of the example with that page. */
const SITE = `
  import worker from './d1_worker.ts';
  import script from './page.txt';

  const page = '<!doctype html><script type="module" src="/page.js"></script>';
  const answer = (body, type) => new Response(body, { headers: { 'content-type': type } });
  export default {
    fetch(request, env, context) {
      const { pathname } = new URL(request.url);
      if (pathname === '/') return answer(page, 'text/html');
      if (pathname === '/page.js') return answer(script, 'text/javascript');
      return worker.fetch(request, env, context);
    },
  };`;
