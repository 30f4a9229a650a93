// The page of examples/chat_node, whose server has a model that fails: what fails is shown, and can be mended.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { RunAgent } from '../../../js/ui/live/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { click, say, shows, until } from '../chat_page.js';
import type { Scenarios, Tab } from '../tab.js';
import { type ChatSite, serveChat } from './chat_site.js';

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

const ALERTS = 'main p[role=alert]';

for (const name of BROWSERS) {
  describe(`A chat whose model fails, in ${name},`, () => {
    let browser: Browser;
    let site: ChatSite;
    before(async () => {
      site = await serveChat(MAIN, { authorize: () => true, run: agent, maxArtifactBytes: 1000 });
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
      await site.picture(browser, session);
      await page.leave();
      const again = await open(session);
      await shows(again, ALERTS, [alert]);
      await again.leave();
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
      await site.picture(browser, 'stop');
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
      await site.picture(browser, 'file');
      await page.leave();
    });
  });
}
