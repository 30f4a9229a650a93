// The playground as static files, in each browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pythonSession } from '../../js/service/files/python_session.js';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { assertStreamed, click, record, say, shows, until } from '../chat_page.js';
import { html, serve, type Server } from '../server.js';
import type { Scenarios, Tab } from '../tab.js';
import { builtPlayground } from './build.js';
import { INSPECTOR, openEvents, openTab } from './inspector.js';
import { TOOL_LINE } from './texts.js';
import { geminiServer, MODELS_OF_PAGE, openAiServer } from './models.js';

/** The turn of the tea shop, as the page shows it. */
const TURN = [
  'userI would like something mild',
  TOOL_LINE,
  'hostrooibos',
  'writerAs asked: "Offer the guest, who likes it mild, this tea: rooibos"',
];

for (const name of BROWSERS) {
  describe(`The playground in ${name}`, { timeout: 300_000 }, () => {
    let site: Server;
    let browser: Browser;
    let page: Tab<Scenarios>;
    before(async () => {
      const folder = await builtPlayground();
      const index = readFileSync(join(folder, 'index.html'), 'utf8');
      const script = '<script src="/models.js"></script>';
      site = await serve({
        '/': folder,
        '/with_models': html(index.replace('<title>', `${script}<title>`)),
        '/models.js': { body: MODELS_OF_PAGE },
      });
      browser = await openBrowser(name);
      page = await browser.openTab(`${site.origin}/`);
      await ready(page);
    });
    after(async () => {
      await browser.close();
      await site.close();
    });

    it('answers in a stream, on our own loop', async () => {
      await record(page, '.draft span');
      await say(page, 'I would like something mild');
      await shows(page, '#messages li', TURN);
      await assertStreamed(page, TURN.at(-1)!.replace('writer', ''));
      await shows(page, '#conversations a', ['I would like something mild']);
    });

    it('shows the same in a second tab, and what is said there in the first', async () => {
      const other = await browser.openTab(await page.evaluate<string>('location.href'));
      await shows(other, '#messages li', TURN);
      await say(other, 'Rather strong');
      await until(page, `document.querySelectorAll('#messages li').length === 8`);
      await until(
        page,
        `document.querySelector('#messages').textContent.includes('likes it strong')`,
      );
      // The last event may still be a draft. A tab that leaves ends its run.
      await until(other, `document.querySelector('#chat').ariaBusy !== 'true'`);
      await other.leave();
    });

    it('shows the conversation in the inspector too, and opens what is selected there', async () => {
      await until(page, `${INSPECTOR}.sessionId === location.hash.slice(1)`);
      await openEvents(page);
      await page.evaluate(`${INSPECTOR}.dispatchEvent(new CustomEvent('sessionselect', {
        detail: { appName: 'tea_house', userId: 'guest', sessionId: 'other' },
      }))`);
      await shows(page, '#messages li', []);
      await page.evaluate(`history.back()`);
      await until(page, `document.querySelectorAll('#messages li').length === 8`);
    });

    it('shows beside the chat what the agents know, and what the last turn has changed', async () => {
      await shows(page, '#knows .changed', ['offerAs asked: "Offer the guest, who likes it strong, this tea: rooibos" was As asked: "Offer the guest, who likes it mild, this tea: rooibos"', 'tastestrong was mild']); // prettier-ignore
      await shows(page, '#teller', ['What writer was told']);
      await shows(page, '#told mark', ['strong', 'rooibos']);
    });

    it('goes back in time with the slider, and returns', async () => {
      const go = (event: number): Promise<void> =>
        page.evaluate(`(() => {
          const slider = document.querySelector('#event');
          slider.value = ${event};
          slider.dispatchEvent(new Event('input'));
        })()`);
      await shows(page, '#place', ['Event 10 of 10']);
      await go(3);
      await shows(page, '#place', ['Event 3 of 10']);
      await shows(page, '#knows dl', ['tastemild new']);
      await shows(page, '#teller', ['What host was told']);
      await shows(page, '#told mark.empty', ['user:taste']);
      await until(page, `document.querySelectorAll('.later').length === 6`);
      await go(1);
      await shows(page, '#knows dl', []);
      await shows(page, '#teller', ['What host will be told']);
      await click(page, '#now');
      await shows(page, '#told mark', ['strong', 'rooibos']);
      await until(page, `document.querySelector('.later') === null`);
    });

    it('begins another conversation from a message, with all that was said up to there', async () => {
      await click(page, '#messages .agent .branch');
      await shows(page, '#messages li', TURN.slice(0, 3));
      await click(page, '#conversations li:has([aria-current]) .remove');
      await shows(page, '#conversations a', ['I would like something mild']);
      await page.evaluate(`history.back()`);
      await until(page, `document.querySelectorAll('#messages li').length === 8`);
    });

    it('finds conversations by what was said in them, and lists all of them again', async () => {
      await find(page, 'grüner');
      await shows(page, '#conversations li', ['Nothing found']);
      await find(page, 'MILD some');
      // In the message alone: the title is its first message, and no hit of its own.
      await shows(page, '#conversations mark', ['some', 'mild']);
      await shows(page, '#conversations small', ['I would like something mild']);
      await click(page, '#new');
      await shows(page, '#messages li', []);
      await click(page, '#conversations .hit');
      await until(page, `document.querySelectorAll('#messages li').length === 8`);
      await find(page, '');
      await shows(page, '#conversations a', ['I would like something mild']);
    });

    it("shows a message's actions when one of them has the focus", async () => {
      const opacity = `getComputedStyle(document.querySelector('#messages .guest .actions')).opacity`;
      // In WebKit only the window that was opened last has the focus.
      const newest = await browser.openTab(await page.evaluate<string>('location.href'));
      await until(newest, `document.querySelector('#messages .guest .edit') !== null`);
      await newest.evaluate(`document.querySelector('#text').focus()`);
      await until(newest, `${opacity} === '0'`);
      await newest.evaluate(`document.querySelector('#messages .guest .edit').focus()`);
      await until(newest, `${opacity} === '1'`);
      await newest.close();
    });

    it('has one palette for the chat and the inspector', async () => {
      const grounds = await page.evaluate(`['html', 'adk-session-inspector'].map((name) =>
        getComputedStyle(document.querySelector(name)).backgroundColor)`);
      assert.equal((grounds as string[])[0], (grounds as string[])[1]);
    });

    it('renames a conversation, and shows it after a reload', async () => {
      await page.evaluate(`(() => {
        const title = document.querySelector('#title');
        title.value = 'A mild tea';
        title.dispatchEvent(new Event('change'));
      })()`);
      await shows(page, '#conversations a', ['A mild tea']);
      await page.open(await page.evaluate<string>('location.href'));
      await shows(page, '#title', ['A mild tea']);
      await until(page, `document.querySelectorAll('#messages li').length === 8`);
    });

    it('answers on the framework', async () => {
      await click(page, '#new');
      await choose(page, { engine: 'adk' });
      await shows(page, '#messages li', []);
      await record(page, '.draft span');
      await click(page, '#suggestions button', 'I am Ada');
      const said = 'Certainly, Ada. Your name is noted, and Rooibos would suit you, for 5.';
      await until(page, `document.querySelectorAll('#messages .stored').length === 4`);
      await until(page, `document.querySelector('#messages li:last-child').textContent === ${JSON.stringify(`host${said}`)}`); // prettier-ignore
      await assertStreamed(page, said);
      await click(page, '#suggestions button', 'I take one');
      await until(page, `document.querySelector('#messages li:last-child').textContent === 'hostCertainly, Ada. Your order is Rooibos.'`); // prettier-ignore
    });

    it('runs nothing of a hostile session file', async () => {
      const script = '<script>pwned = true</script><img src=x onerror="pwned = true">';
      const parts = [
        { text: script },
        { functionCall: { name: script, args: { html: script } } },
        { functionResponse: { name: script, response: { html: script } } },
      ];
      const event = { id: 'e1', invocationId: 'i1', author: script, timestamp: 1_700_000_000_000, content: { role: 'user', parts } }; // prettier-ignore
      const key = { id: 'hostile', appName: script, userId: script };
      await page.evaluate(`document.addEventListener('securitypolicyviolation',
        ({ sample }) => document.documentElement.dataset.violation = sample)`);
      await openFile(page, { ...key, title: script, state: { [script]: script }, events: [event] });
      const shown = JSON.stringify({ html: script }, undefined, 2);
      const message = `${script}${script}${script}html: ${script}called with${shown}returned${shown}`;
      await shows(page, '#messages li', [message]);
      await until(page, `document.querySelector('#conversations [aria-current]')?.textContent === ${JSON.stringify(script)}`); // prettier-ignore
      const found = await page.evaluate(`[
        globalThis.pwned, document.querySelector('img[src=x]'), document.documentElement.dataset.violation,
      ]`);
      assert.deepEqual(found, [null, null, null]);
    });

    it('opens a session file of Python, and continues where it stopped', async () => {
      await choose(page, { engine: 'adk' });
      await openFile(page, pythonSession);
      await until(page, `location.hash === '#s-1'`);
      await until(page, `document.querySelectorAll('#messages .stored').length >= 2`);
      const first = await page.evaluate<string>(
        `document.querySelector('#messages li').textContent`,
      );
      assert.equal(first, 'userhi');
      await say(page, 'What is there for the morning?');
      await until(page, `document.querySelector('#messages li:last-child').textContent === 'hostCertainly, Ada. Assam would suit you, for 4.'`); // prettier-ignore
    });

    it('keeps a key in its tab only, and asks the model that the settings name', async () => {
      const { origin: url, requests, close } = await openAiServer();
      try {
        await click(page, '#new');
        await choose(page, { engine: 'loop', model: 'openai', url, modelName: 'm', key: 'secret' });
        await record(page, '.draft span');
        await say(page, 'I would like something mild');
        await shows(page, '#messages .stored:last-child', ['writeranswer 3']);
        await assertStreamed(page, 'answer 3');
        assert.deepEqual(
          requests.map(({ stream }) => stream),
          [true, true, true],
        );
        assert.deepEqual(requests[1]?.messages.slice(1), [
          { role: 'user', content: 'I would like something mild' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'remember_taste', arguments: '{"taste":"mild"}' } }], // prettier-ignore
          },
          { role: 'tool', tool_call_id: 'c1', content: '{"kept":"mild"}' },
        ]);
        const kept = await page.evaluate<string>(
          `JSON.stringify([sessionStorage, localStorage, document.cookie])`,
        );
        assert.equal(kept.split('secret').length, 2, kept);
        const other = await browser.openTab(`${site.origin}/`);
        await ready(other);
        assert.equal(await other.evaluate(`document.querySelector('[name=key]').value`), '');
        await other.leave();
      } finally {
        await choose(page, { model: 'scripted', key: '' });
        await close();
      }
    });

    it("streams from Google's API", async () => {
      const { origin, requests, close } = await geminiServer();
      try {
        const other = await browser.openTab(`${site.origin}/with_models?google=${origin}`);
        await choose(other, { engine: 'loop', model: 'gemini', key: 'secret' });
        await record(other, '.draft span');
        await say(other, 'I would like something mild');
        await shows(other, '#messages .stored:last-child', ['writeranswer 3']);
        await assertStreamed(other, 'answer 3');
        await until(other, `document.querySelector('.draft') === null`);
        await other.leave();
        assert.deepEqual(requests[1]?.contents.at(-1)?.parts, [
          { functionResponse: { name: 'remember_taste', response: { kept: 'mild' } } },
        ]);
      } finally {
        await close();
      }
    });

    it('asks the model of a browser, which this page stands in for', async () => {
      const other = await browser.openTab(`${site.origin}/with_models`);
      await choose(other, { engine: 'loop', model: 'browser' });
      await record(other, '.draft span');
      await say(other, 'Which tea?');
      await shows(other, '#messages .stored:last-child', ['writersystem and user: Which tea?']);
      await assertStreamed(other, 'system and user: Which tea?');
      await until(other, 'LanguageModel.open === 0');
      await other.leave();
    });

    it('offers the model of a browser only if this device can run it', async () => {
      const other = await browser.openTab(`${site.origin}/with_models?model=unavailable`);
      await until(other, `document.querySelector('[value=browser]') === null`);
      assert.equal(await other.evaluate(`'LanguageModel' in globalThis`), true);
      await other.leave();
    });

    it('shows all of itself after one visit, without its server', async () => {
      const visited = await serve({ '/': await builtPlayground() });
      const other = await browser.openTab(`${visited.origin}/#visit`);
      try {
        // Before that, the form would be submitted by the browser.
        await ready(other);
        await say(other, 'I would like something mild');
        await shows(other, '#messages li', TURN);
        await until(other, `navigator.serviceWorker.controller !== null`);
      } finally {
        await visited.close();
      }
      await other.open('about:blank');
      await other.open(`${visited.origin}/#visit`);
      await shows(other, '#messages li', TURN);
      await openTab(other, 'Template');
      await until(other, `${INSPECTOR}.shadowRoot.querySelector('textarea') !== null`);
      await other.evaluate(`(() => {
        const field = ${INSPECTOR}.shadowRoot.querySelector('textarea');
        field.value = 'A guest who likes it {user:taste}.';
        field.dispatchEvent(new Event('input', { bubbles: true }));
      })()`);
      await until(other, `${INSPECTOR}.shadowRoot.textContent.includes('A guest who likes it mild.')`); // prettier-ignore
      await other.leave();
    });

    it('shows why an address names no session, and goes on with a new one', async () => {
      const other = await browser.openTab(`${site.origin}/#100%`);
      await ready(other);
      await say(other, 'I would like something mild');
      await shows(other, '#messages li', TURN);
      await other.evaluate(`location.hash = 'a'.repeat(600)`);
      await until(
        other,
        `document.querySelector('#problem').textContent.includes('cannot be taken')`,
      );
      await shows(other, '#messages li', []);
      await other.evaluate(`document.querySelector('#new').click()`);
      await until(other, `document.querySelector('#problem').textContent === ''`);
      await say(other, 'I would like something mild');
      await shows(other, '#messages li', TURN);
      await other.leave();
    });

    it('works without its server', async () => {
      await until(page, `navigator.serviceWorker.controller !== null`);
      await site.close();
      await page.open('about:blank');
      await page.open(`${site.origin}/#offline`);
      await choose(page, { engine: 'loop', model: 'scripted' });
      await say(page, 'I would like something mild');
      await shows(page, '#messages li', TURN);
      await choose(page, { engine: 'adk' });
      await say(page, 'And for the evening?');
      await until(page, `document.querySelector('#messages li:last-child').textContent === 'hostCertainly, Ada. Rooibos would suit you, for 5.'`); // prettier-ignore
    });
  });
}

/** Waits until the page shows the conversations. */
function ready(page: Tab<Scenarios>): Promise<void> {
  return until(page, `document.querySelectorAll('#suggestions button').length > 0`);
}

/** Types into the field that searches the conversations. */
async function find(page: Tab<Scenarios>, query: string): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector('#find');
    field.value = ${JSON.stringify(query)};
    field.dispatchEvent(new Event('input'));
  })()`);
}

/** Opens a session file with the page's field for it. */
async function openFile(page: Tab<Scenarios>, session: object): Promise<void> {
  const text = JSON.stringify(JSON.stringify(session));
  await page.evaluate(`(() => {
    const input = document.querySelector('#file');
    const files = new DataTransfer();
    files.items.add(new File([${text}], 'session.json'));
    input.files = files.files;
    input.dispatchEvent(new Event('change'));
  })()`);
}

/** Fills in the form of the settings. */
async function choose(page: Tab<Scenarios>, settings: Record<string, string>): Promise<void> {
  await ready(page);
  await page.evaluate(`(() => {
    const form = document.querySelector('#settings');
    for (const [name, value] of Object.entries(${JSON.stringify(settings)})) form.elements[name].value = value;
    form.dispatchEvent(new Event('input'));
  })()`);
}
