// The page of examples/chat_node, whose server has a model that fails: what fails is shown, and can be mended.

import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Plugin } from 'esbuild';

import { InMemorySessionService } from '../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../js/server/index.js';
import type { RunAgent } from '../../../js/ui/live/index.js';
import { httpServer } from '../../http_server.js';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { click, say, shows, until } from '../chat_page.js';
import { bundleForPage } from '../page_script.js';
import type { Scenarios, Tab } from '../tab.js';

const says = (text: string) => ({ role: 'model', parts: [{ text }] });
const QUOTA = { author: 'guide', errorCode: '429', errorMessage: 'The quota is used up.' };

/** Does what the message says. */
const agent: RunAgent = async function* ({ message, signal }) {
  const { text } = message.content?.parts?.[0] ?? {};
  if (text === 'throw') throw new Error('the key sk-1 is wrong');
  if (text === 'partials') {
    yield { author: 'guide', partial: true, content: says('Green tea is') };
    yield QUOTA;
  } else if (text === 'error') yield QUOTA;
  else if (text === 'wait') {
    yield { author: 'guide', partial: true, content: says('Half of') };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  } else yield { author: 'guide', content: says(`You said: ${text}`) };
};

const ENTRIES: Readonly<Record<string, string>> = {
  'adk-session-wasm': 'js/index.js',
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

const MAIN = `
import { SessionProvider } from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './examples/chat_node/src/chat.tsx';

const service = new RemoteSessionService({ url: location.origin + '/api' });
const key = { service, appName: 'chat', userId: 'ada', sessionId: location.hash.slice(1) };
const chat = createElement(Chat);
createRoot(document.getElementById('root')).render(createElement(SessionProvider, { ...key, turns: true }, chat));
`;

/** Serves the page and its sessions. */
async function serveChat() {
  const script = await bundleForPage({
    stdin: { contents: MAIN, resolveDir: root, loader: 'ts' },
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [entries],
  });
  const style = readFileSync(join(root, 'examples/chat_node/src/style.css'), 'utf8');
  const page = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${style}</style><div id="root"></div><script type="module" src="/main.js"></script>`; // prettier-ignore
  const service = new InMemorySessionService({ artifacts: true });
  const handler = sessionHandler(service, {
    basePath: '/api',
    authorize: () => true,
    run: agent,
    onError: () => undefined,
    maxArtifactBytes: 1000,
  });
  const sessions = nodeListener(handler);
  const server = httpServer((request, response) => {
    if (request.url?.startsWith('/api')) return void sessions(request, response);
    const isScript = request.url === '/main.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await handler.close({ graceMs: 0 });
  };
  return { origin, close };
}

const ALERTS = 'main p[role=alert]';

for (const name of BROWSERS) {
  describe(`A chat whose model fails, in ${name},`, () => {
    let browser: Browser;
    let site: Awaited<ReturnType<typeof serveChat>>;
    before(async () => {
      site = await serveChat();
      browser = await openBrowser(name);
    });
    after(async () => {
      await browser?.close();
      await site?.close();
    });

    const open = async (session: string): Promise<Tab<Scenarios>> => {
      const page = await browser.openTab<Scenarios>(`${site.origin}/#${session}`);
      await until(page, `document.querySelector('form [name=text]') !== null`);
      return page;
    };

    /** Asks, and waits for what stands below; also after a reload. */
    async function failsAs(session: string, text: string, alert: string, shown: string[]) {
      const page = await open(session);
      await say(page, text);
      await shows(page, ALERTS, [alert]);
      await shows(page, 'li p', shown);
      await picture(session);
      await page.leave();
      const again = await open(session);
      await shows(again, ALERTS, [alert]);
      await again.leave();
    }

    async function picture(session: string): Promise<void> {
      const folder = process.env.PICTURES;
      if (folder === undefined) return;
      for (const width of [1100, 420]) {
        await browser.debug('Emulation.setDeviceMetricsOverride', { width, height: 600, deviceScaleFactor: 1, mobile: false }); // prettier-ignore
        const { data } = await browser.debug<{ data: string }>('Page.captureScreenshot');
        writeFileSync(join(folder, `${session}_${width}.png`), Buffer.from(data, 'base64'));
      }
      await browser.debug('Emulation.clearDeviceMetricsOverride');
    }

    it('says that there is no answer if the agent throws, without what it threw', async () => {
      await failsAs('throw', 'throw', 'The answer could not be made. Again', ['user throw']);
    });

    it('says why if the last event is an error', async () => {
      const alert = 'The answer could not be made: The quota is used up. Again';
      await failsAs('error', 'error', alert, ['user error']);
    });

    it('keeps what was streamed before an error', async () => {
      const alert = 'The answer could not be made: The quota is used up. Again';
      const shown = ['user partials', 'guide Green tea is'];
      await failsAs('partials', 'partials', alert, shown);
    });

    it('shows no empty message after Stop, and goes on', async () => {
      const page = await open('stop');
      await say(page, 'wait');
      await shows(page, 'li p', ['user wait', 'guide Half of']);
      await click(page, 'form button', 'Stop');
      await shows(page, 'li p', ['user wait', 'guide Half of (stopped)']);
      await picture('stop');
      await say(page, 'hi');
      await shows(page, 'li p', ['user wait', 'guide Half of (stopped)', 'user hi', 'guide You said: hi']); // prettier-ignore
      await shows(page, ALERTS, []);
      await page.leave();
    });

    it('keeps the text and the file of a message in the form if the file is refused', async () => {
      const page = await open('file');
      await page.evaluate(`(() => {
        const files = new DataTransfer();
        files.items.add(new File([new Uint8Array(2000)], 'tea.bin'));
        document.querySelector('form [name=file]').files = files.files;
      })()`);
      await say(page, 'with a file');
      await until(page, `document.querySelector(${JSON.stringify(ALERTS)}) !== null`);
      const left = await page.evaluate<unknown>(`(() => {
        const form = document.querySelector('main form');
        const { text, file } = form.elements;
        return [text.value, file.files.length, form.querySelector('button').disabled];
      })()`);
      assert.deepEqual(left, ['with a file', 1, false]);
      await picture('file');
      await page.leave();
    });
  });
}
