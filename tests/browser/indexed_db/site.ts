// The server of these tests' pages, with the messages that the pages send.

import { join } from 'node:path';
import { root } from '../../toolchain/environment.mjs';
import { bundleForPage } from '../page_script.js';
import { RENDEZVOUS_PATH, rendezvous } from '../rendezvous.js';
import { PATIENCE } from '../report.js';
import { html, type Respond, serve } from '../server.js';

export interface Site {
  readonly origin: string;
  /** The page that has all scenarios. */
  readonly page: string;
  /** A page that has nothing to do with it. */
  readonly elsewhere: string;
  readonly acknowledged: MessageLog;
  /** The report of the killed page about its data when it was opened. */
  readonly found: MessageLog;
  close(): Promise<void>;
}

/** The bundles are classic scripts: so are they in workers of browsers without module workers. */
export async function serveSite(): Promise<Site> {
  const [acknowledged, found] = [new MessageLog(), new MessageLog()];
  const server = await serve({
    '/': html(pageWith('/page.js')),
    '/page.js': { body: await bundle('main') },
    '/realm.js': { body: await bundle('opening/realm') },
    '/writer.js': { body: await bundle('pages/writer') },
    '/damaged': html(pageWith('/damaged.js')),
    '/damaged.js': { body: await bundle('loss/damaged') },
    '/killed': html(pageWith('/killed.js')),
    '/killed.js': { body: await bundle('loss/killed') },
    '/sandboxed': html(SANDBOXED),
    '/without': html(pageWith('/page.js', TAKE_AWAY)),
    '/elsewhere': html(pageWith('')),
    '/acknowledge': acknowledged.respond,
    '/found': found.respond,
    [RENDEZVOUS_PATH]: rendezvous(),
  });
  const { origin } = server;
  return {
    origin,
    page: `${origin}/`,
    elsewhere: `${origin}/elsewhere`,
    acknowledged,
    found,
    close: () => server.close(),
  };
}

function bundle(entry: string): Promise<string> {
  const file = join(root, `tests/browser/indexed_db/page/${entry}.ts`);
  return bundleForPage({ entryPoints: [file], format: 'iife' });
}

function pageWith(script: string, before = ''): string {
  const scripts =
    script === '' ? '' : `<script>${before}</script><script src="${script}"></script>`;
  return `<!doctype html><meta charset="utf-8"><title>A page</title><body>${scripts}`;
}

/** `?how=` selects how IndexedDB is missing. Runs before the package is loaded. */
const TAKE_AWAY = `
  const refused = () => { throw new DOMException('It is not for you.', 'SecurityError'); };
  const ways = {
    missing: { value: undefined },
    forbidden: { get: refused },
    closed: { value: { open: refused, deleteDatabase: refused } },
  };
  const way = ways[new URLSearchParams(location.search).get('how')];
  Object.defineProperty(globalThis, 'indexedDB', { ...way, configurable: true });`;

/** A frame without an origin, to which browsers give no storage; it has the scenario named in `?scenario=`. */
const SANDBOXED = `<!doctype html><meta charset="utf-8"><body><script>
  const name = new URLSearchParams(location.search).get('scenario');
  globalThis.report = new Promise((resolve, reject) => {
    onmessage = ({ data }) => ('value' in data ? resolve(data.value) : reject(new Error(data.error)));
  });
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  frame.srcdoc = \`<script src="\${location.origin}/page.js"><\\/script><script>
    startScenario('\${name}', '[]');
    report.then((value) => parent.postMessage({ value }, '*'), (error) => parent.postMessage({ error: String(error) }, '*'));
  <\\/script>\`;
  document.body.append(frame);
</script>`;

/** The messages of pages, in order. */
export class MessageLog {
  readonly all: string[] = [];
  readonly #waiting = new Set<() => void>();

  readonly respond: Respond = (body) => {
    this.all.push(body);
    for (const look of this.#waiting) look();
    return { body: '' };
  };

  /** Resolves when the given number of messages has arrived. */
  atLeast(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`only ${this.all.length} of ${count} were told`));
      }, PATIENCE);
      const look = (): void => {
        if (this.all.length < count) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Takes them all out. */
  take(): string[] {
    return this.all.splice(0);
  }
}
