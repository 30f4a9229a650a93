// The page of examples/chat_node, over a cache, before its login, and with a server that refuses a title and a deletion.

import { after, before, describe, it } from 'node:test';

import type { RunAgent } from '../../../js/ui/live/index.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { click, say, shows, until } from '../chat_page.js';
import type { Scenarios, Tab } from '../tab.js';
import { type ChatSite, serveChat } from './chat_site.js';

const echo: RunAgent = async function* ({ message }) {
  const text = `You said: ${message.content?.parts?.[0]?.text}`;
  yield { author: 'guide', content: { role: 'model', parts: [{ text }] } };
};

/** The page has no field for a title: another program of the page changes it. */
const MAIN = `
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';
// A plain import without a name would be dropped from the bundle.
await import('./examples/chat_node/src/main.tsx');

window.rename = (title) => {
  const service = new CachedSessionService({ remote: new RemoteSessionService({ url: '/api' }), owner: 'ada' });
  return service.updateSession({ appName: 'chat', userId: 'ada', sessionId: location.hash.slice(1) }, { title });
};
`;

const REFUSED = 'nav [role=alert]';

for (const name of BROWSERS) {
  describe(`A chat whose server refuses changes, in ${name},`, () => {
    let browser: Browser;
    let site: ChatSite;
    /** What the server does not allow now. */
    let refused: string | undefined;
    before(async () => {
      const authorize = (_: Request, { action }: { action: string }) => action !== refused;
      site = await serveChat(MAIN, { authorize, run: echo });
      browser = await openBrowser(name);
    });
    after(async () => {
      await browser?.close();
      await site?.close();
    });

    const open = async (session: string): Promise<Tab<Scenarios>> => {
      const page = await browser.openTab<Scenarios>(`${site.origin}/#${session}`);
      await page.evaluate(`void localStorage.setItem('user', 'ada')`);
      await page.open(`${site.origin}/?${session}#${session}`);
      await until(page, `document.querySelector('form [name=text]') !== null`);
      return page;
    };

    it('asks for a name before a login', async () => {
      const page = await browser.openTab<Scenarios>(`${site.origin}/`);
      await shows(page, 'form.sign-in button', ['Sign in']);
      await shows(page, 'main', []);
      await site.picture(browser, 'login');
      await page.leave();
    });

    it('shows a refused title with the old one, and sends it again', async () => {
      const page = await open('title');
      await say(page, 'hi');
      await shows(page, 'main li p', ['user hi', 'guide You said: hi']);
      await shows(page, 'nav .title', ['hi']);
      refused = 'updateSession';
      await page.evaluate('window.rename("Tea")');
      await shows(page, REFUSED, ['The title was not changed: You may not do this.RetryDiscard']);
      await shows(page, 'nav .title', ['hi']);
      await site.picture(browser, 'title');
      refused = undefined;
      await click(page, `${REFUSED} button`, 'Retry');
      await shows(page, 'nav .title', ['Tea']);
      await shows(page, REFUSED, []);
      await page.leave();
    });

    it('shows a conversation whose deletion was refused, until it is discarded or sent again', async () => {
      const page = await open('deletion');
      await say(page, 'keep');
      await shows(page, 'main li p', ['user keep', 'guide You said: keep']);
      refused = 'deleteSession';
      await click(page, 'nav p:has([aria-current=true]) button', 'Delete');
      const alert = 'The conversation was not deleted: You may not do this.RetryDiscard';
      await shows(page, REFUSED, [alert]);
      // The page shows what the server has.
      await shows(page, 'main li p', ['user keep', 'guide You said: keep']);
      await say(page, 'and this');
      await until(
        page,
        `document.querySelector('main .unsent')?.textContent.startsWith('waits for the conversation')`,
      );
      await site.picture(browser, 'deletion');
      await click(page, `${REFUSED} button`, 'Discard');
      await shows(page, REFUSED, []);
      await shows(page, 'main li p', [
        'user keep',
        'guide You said: keep',
        'user and this',
        'guide You said: and this',
      ]);
      await click(page, 'nav p:has([aria-current=true]) button', 'Delete');
      await shows(page, REFUSED, [alert]);
      refused = undefined;
      await click(page, `${REFUSED} button`, 'Retry');
      await until(
        page,
        `document.querySelector('main > p[role=alert]')?.textContent.startsWith('This conversation was deleted.')`,
      );
      await site.picture(browser, 'deleted');
      await page.leave();
    });
  });
}
