// Edits, new answers and branches in the playground, as the next request to the model shows them.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { click, say, shows, until } from '../chat_page.js';
import { serve, type Server } from '../server.js';
import type { Scenarios, Tab } from '../tab.js';
import { builtPlayground } from './build.js';
import { openAiServer } from './models.js';
import { TOOL_LINE } from './texts.js';

for (const name of BROWSERS) {
  describe(`Turns of the playground in ${name}`, { timeout: 300_000 }, () => {
    let site: Server;
    let browser: Browser;
    let page: Tab<Scenarios>;
    let model: Awaited<ReturnType<typeof openAiServer>>;
    before(async () => {
      model = await openAiServer();
      site = await serve({ '/': await builtPlayground() });
      browser = await openBrowser(name);
      page = await browser.openTab(`${site.origin}/#turns`);
      await choose(page, model.origin);
    });
    after(async () => {
      await browser.close();
      await site.close();
      await model.close();
    });

    /** Waits until the page shows these messages, each with its arrows, and nothing is streamed. */
    async function showsTexts(tab: Tab<Scenarios>, ...texts: string[]): Promise<void> {
      await shows(tab, '#messages li', texts);
      await until(tab, `document.querySelector('#chat').ariaBusy !== 'true'`);
    }

    /** The messages that the model got with a request, without the instruction. */
    const asked = (request: number): unknown[] =>
      model.requests[request - 1]!.messages.slice(1).map(({ content, tool_calls: calls }) =>
        calls === undefined ? content : 'a call',
      );

    const first = [TOOL_LINE, 'hostanswer 2', 'writeranswer 3'];

    it('asks the model without the turn that an edit has undone', async () => {
      await say(page, 'Something mild');
      await showsTexts(page, 'userSomething mild', ...first);
      await click(page, '#messages .edit');
      assert.equal(await page.evaluate(`document.querySelector('#text').value`), 'Something mild');
      await say(page, 'Something strong');
      await showsTexts(page, 'userSomething strong2/2', 'hostanswer 4', 'writeranswer 5');
      assert.deepEqual(asked(4), ['Something strong']);
      assert.deepEqual(asked(5), ['Something strong']);
      await shows(page, '#conversations a', ['Something mild']);
    });

    it('asks it again for the same message, as often as wanted', async () => {
      await click(page, '#messages .again');
      await showsTexts(page, 'userSomething strong3/3', 'hostanswer 6', 'writeranswer 7');
      await click(page, '#messages .again');
      await showsTexts(page, 'userSomething strong4/4', 'hostanswer 8', 'writeranswer 9');
      assert.deepEqual(asked(8), ['Something strong']);
      await picture('branches');
    });

    it('goes back to the first answer, and asks the model with that', async () => {
      for (const place of ['3/4', '2/4', '1/4']) {
        await click(page, '#messages .previous');
        await until(page, `document.querySelector('.arrows')?.textContent === '${place}'`);
      }
      await showsTexts(page, 'userSomething mild1/4', ...first);
      await say(page, 'And then?');
      const second = ['userAnd then?', 'hostanswer 10', 'writeranswer 11'];
      await showsTexts(page, 'userSomething mild1/4', ...first, ...second);
      assert.deepEqual(asked(10), [
        ...['Something mild', 'a call', '{"kept":"mild"}', 'answer 2', 'And then?'],
      ]);
      assert.deepEqual(asked(11), ['Something mild', 'answer 3', 'And then?']);
      await picture('first_answer');
    });

    it('shows the same after a reload and in a second tab, which may switch too', async () => {
      const all = ['userSomething mild1/4', ...first, 'userAnd then?', 'hostanswer 10', 'writeranswer 11']; // prettier-ignore
      await page.open(await page.evaluate<string>('location.href'));
      await showsTexts(page, ...all);
      const other = await browser.openTab(`${site.origin}/#turns`);
      await choose(other, model.origin);
      await showsTexts(other, ...all);
      await click(other, '#messages .next');
      const edited = ['userSomething strong2/4', 'hostanswer 4', 'writeranswer 5'];
      await showsTexts(other, ...edited);
      await showsTexts(page, ...edited);
      await say(other, 'Is that all?');
      const last = ['userIs that all?', 'hostanswer 12', 'writeranswer 13'];
      await showsTexts(page, ...edited, ...last);
      assert.deepEqual(asked(12), ['Something strong', 'answer 4', 'Is that all?']);
      await other.leave();
    });

    async function picture(what: string): Promise<void> {
      const folder = join(root, 'target/pictures');
      mkdirSync(folder, { recursive: true });
      await page.evaluate(`(() => {
        const messages = document.querySelector('#messages');
        messages.scrollTop = 0;
        messages.scrollIntoView();
      })()`);
      writeFileSync(join(folder, `turns_${what}_${name}.png`), await page.picture());
    }
  });
}

/** Takes the model of the tests, on the loop of the examples. */
async function choose(page: Tab<Scenarios>, url: string): Promise<void> {
  await until(page, `document.querySelectorAll('#suggestions button').length > 0`);
  const settings = { engine: 'loop', model: 'openai', url, modelName: 'm', key: 'secret' };
  await page.evaluate(`(() => {
    const form = document.querySelector('#settings');
    for (const [name, value] of Object.entries(${JSON.stringify(settings)})) form.elements[name].value = value;
    form.dispatchEvent(new Event('input'));
  })()`);
}
