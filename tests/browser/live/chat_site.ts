// The page of examples/chat_node beside a server of its own, and pictures of it.

import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';

import { InMemorySessionService } from '../../../js/index.js';
import {
  nodeListener,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../js/server/index.js';
import { httpServer } from '../../http_server.js';
import { root } from '../../toolchain/environment.mjs';
import type { Browser } from '../browser.js';
import { bundleForPage } from '../page_script.js';

const ENTRIES: Readonly<Record<string, string>> = {
  'adk-session-wasm': 'js/index.js',
  'adk-session-wasm/cache': 'js/service/cache/index.js',
  'adk-session-wasm/live': 'js/ui/live/index.js',
  'adk-session-wasm/react': 'js/ui/react/index.js',
  'adk-session-wasm/remote': 'js/service/remote/index.js',
};
const compiled = join(import.meta.dirname, '../../..');

const entries: Plugin = {
  name: 'entries of the package',
  setup(build) {
    build.onResolve({ filter: /^adk-session-wasm/ }, ({ path }) => ({
      path: join(compiled, ENTRIES[path]!),
    }));
  },
};

export interface ChatSite {
  readonly origin: string;
  /** Takes pictures of the shown page, in two widths, into the folder `PICTURES`, if there is one. */
  picture(browser: Browser, name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves the page and its sessions.
 *
 * @param main the module of the page
 * @param options of the handler of the sessions
 */
export async function serveChat(main: string, options: SessionHandlerOptions): Promise<ChatSite> {
  const script = await bundleForPage({
    stdin: { contents: main, resolveDir: root, loader: 'ts' },
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [entries],
  });
  const style = readFileSync(join(root, 'examples/chat_node/src/style.css'), 'utf8');
  const page = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${style}</style><div id="root"></div><script type="module" src="/main.js"></script>`; // prettier-ignore
  const handler = sessionHandler(new InMemorySessionService({ artifacts: true, autoTitle: true }), {
    basePath: '/api',
    onError: () => undefined,
    ...options,
  });
  const sessions = nodeListener(handler);
  const server = httpServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    if (pathname.startsWith('/api')) return void sessions(request, response);
    const answer = (type: string, body: string | Uint8Array): void => {
      response.setHeader('content-type', type);
      response.end(body);
    };
    if (pathname === '/main.js') return answer('text/javascript', script);
    if (pathname === '/service_worker.js') return answer('text/javascript', '');
    if (!pathname.endsWith('.wasm')) return answer('text/html; charset=utf-8', page);
    answer('application/wasm', readFileSync(join(root, 'pkg', basename(pathname))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async picture(browser, name) {
      const folder = process.env.PICTURES;
      if (folder === undefined) return;
      // What waits is shown after a second only.
      const expression = 'Promise.all(document.getAnimations().map(({ finished }) => finished))';
      await browser.debug('Runtime.evaluate', { expression, awaitPromise: true });
      for (const width of [1100, 420]) {
        await browser.debug('Emulation.setDeviceMetricsOverride', { width, height: 600, deviceScaleFactor: 1, mobile: false }); // prettier-ignore
        const { data } = await browser.debug<{ data: string }>('Page.captureScreenshot');
        writeFileSync(join(folder, `${name}_${width}.png`), Buffer.from(data, 'base64'));
      }
      await browser.debug('Emulation.clearDeviceMetricsOverride');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await handler.close({ graceMs: 0 });
    },
  };
}
