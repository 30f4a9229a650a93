// The inspector in real pages of one of the browsers.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { Key } from 'selenium-webdriver';

import { root } from '../../toolchain/environment.mjs';
import type { BrowserName } from '../browser.js';
import { inspectorPages, type Page } from './inspector_pages.js';

const PICTURES = join(root, 'target', 'inspector');

export function inspectorIn(name: BrowserName): void {
  describe(`The inspector in ${name}`, () => {
    const { context, inPage, inTwoTabs } = inspectorPages(name);
    before(() => void mkdirSync(PICTURES, { recursive: true }));
    const picture = async (page: Page, view: string): Promise<void> =>
      writeFileSync(join(PICTURES, `${name}_${view}.png`), await page.picture());

    it('lists sessions, the newest first, in pages', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        const listed = await page.call('options', 'Sessions');
        assert.equal(listed.length, 50);
        assert.match(listed[0] ?? '', /^Tea/);
        assert.match(listed[1] ?? '', /^Order 60/);
        await page.call('click', 'Load more');
        await page.call('see', '61 sessions');
        assert.equal((await page.call('options', 'Sessions')).length, 61);
        await page.call('type', 'User', 'ada');
        await page.call('seeNot', 'Order 60');
        await page.call('see', '1 session');
        assert.equal((await page.call('options', 'Sessions')).length, 1);
      }));

    it('shows a service that is set while another one opens', () =>
      inPage(async (page) => {
        await page.call('openTwo');
        assert.equal((await page.call('options', 'Events')).length, 5);
        await page.call('seeNot', 'message 3');
      }));

    it('filters sessions by title, label and id', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        await page.call('click', 'Filter');
        for (const [field, text, count, found] of [
          ['Title', 'order', '30 sessions', 'Order 60'],
          ['Labels', 'pinned=yes', '1 session', 'Question 7'],
          ['Id', 's59', '1 session', 'Question 59'],
        ] as const) {
          await page.call('type', field, text);
          await page.call('see', count);
          assert.match((await page.call('options', 'Sessions'))[0] ?? '', new RegExp(found));
          await page.call('type', field, '');
          await page.call('see', 'The newest 50');
        }
      }));

    it('tells sessions of two users apart', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        await page.call('addSession', 'eve', 'tea-talk', 'Twin');
        await page.call('choose', 'Sessions', 'Tea');
        await page.call('choose', 'Sessions', 'Twin');
        assert.deepEqual(await page.call('properties'), ['shop', 'eve', 'tea-talk']);
        assert.deepEqual(await page.call('seeSelected', '.'), ['tea-talk', 'tea-talk']);
        await page.call('addSession', 'eve', 'a/twin', 'First');
        await page.call('addSession', 'eve/a', 'twin', 'Second');
        await page.call('click', 'Filter');
        await page.call('type', 'Id', 'twin');
        await page.call('see', '2 sessions');
      }));

    it('finds a session by its whole id before it has read the list', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        await page.call('stopWalks');
        await page.call('click', 'Filter');
        await page.call('type', 'Id', ' s1 ');
        await page.call('see', 'Searching… 1 session');
        assert.match((await page.call('options', 'Sessions')).join(), /^Question 1 [^,]*$/);
      }));

    it('shows who said what, which tools ran, and what each event changed', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        await page.call('choose', 'Sessions', 'Tea');
        await page.call('see', 'Thank you!');
        assert.deepEqual(await page.call('seeSelected', '^tea-talk$'), ['tea-talk']);
        assert.deepEqual(await page.call('properties'), ['shop', 'ada', 'tea-talk']);
        assert.deepEqual(await page.call('options', 'Events'), [
          'user changed keys: 1 Which tea do you have?',
          'guide calls find_tea Let me look.',
          'guide result of find_tea',
          'guide changed keys: 4 Sencha and matcha.',
          'user changed keys: 1 Thank you!',
        ]);
        await page.call('choose', 'Events', 'calls find_tea');
        await page.call('see', '"kind": "green"');
        await page.call('choose', 'Events', 'result of find_tea');
        await page.call('see', '"matcha"');
        await page.call('choose', 'Events', 'Sencha and matcha');
        await page.call('see', 'App state');
        assert.deepEqual(await page.call('text', '.changes h4'), [
          'Session state',
          'User state',
          'App state',
        ]);
        await picture(page, 'events');
      }));

    it('shows the history of a key, and the event that set it', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('see', 'Thank you!');
        await page.call('click', 'State');
        await page.call('click', 'History of topic');
        await page.call('see', '2 changes in all 5 events');
        const values = await page.call('text', '.history pre');
        assert.deepEqual(values, ['"tea"', '"green tea"', '"nothing"', '"tea"']);
        await picture(page, 'state');
        await page.call('click', 'Show event');
        await page.call('see', 'Changes');
        assert.match((await page.call('text', '.panel'))[0] ?? '', /Sencha and matcha\./);
      }));

    it('rewinds to before a turn, shows what is undone, and brings it back', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('append', 'e9', 'One more?', { topic: 'more' });
        await page.call('see', 'One more?');
        await page.call('choose', 'Events', 'One more?');
        await page.call('click', 'Rewind to before this turn');
        await page.call('see', 'Undo this turn and all later ones?');
        await page.call('click', 'Rewind to before this turn');
        await page.call('see', 'Select an event.');
        const shown = await page.call('options', 'Events');
        assert.equal(shown.length, 5);
        assert.match(shown.at(-1) ?? '', /Thank you!$/);
        assert.equal((await page.call('stored'))?.state.topic, 'green tea');
        await page.call('click', 'All events');
        await page.call('see', '[rewind to before i9]');
        assert.equal((await page.call('options', 'Events')).length, 7);
        await picture(page, 'all_events');
        await page.call('click', 'State');
        await page.call('click', 'History of topic');
        await page.call('click', 'All events');
        await page.call('seeNot', '[rewind to before i9]');
        await page.call('click', 'Session');
        await page.call('see', 'Branches');
        await picture(page, 'branches');
        await page.call('click', 'Show version 1 after i1');
        await page.call('see', 'One more?');
        assert.equal((await page.call('stored'))?.state.topic, 'more');
      }));

    it('lists the files of a session and opens their versions', () =>
      inPage(async (page) => {
        await page.call('openFiles');
        await page.call('click', 'Session');
        await page.call('see', 'user:page.html');
        await page.call('click', 'Versions of tea.png');
        await page.call('see', 'Version 1, image/png');
        await page.call('click', 'Open version 1 of tea.png');
        await page.call('see', 'Save');
        assert.deepEqual(await page.call('pictures'), [['tea.png', 300]]);
        await picture(page, 'files');
        await page.call('click', 'Close version 1 of tea.png');
        await page.call('click', 'Versions of user:page.html');
        await page.call('click', 'Open version 0 of user:page.html');
        await page.call('see', 'Save');
        assert.deepEqual(await page.call('savedNames'), ['page.html']);
        await page.call('saveFile', 'recipe.txt');
        await page.call('see', 'recipe.txt');
      }));

    it('changes the state by events', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('click', 'State');
        await page.call('click', 'Edit topic');
        await page.call('type', 'Value of topic as JSON', '{"kind": white}');
        await page.call('click', 'Save');
        await page.call('see', 'The value is not JSON.');
        await page.call('type', 'Value of topic as JSON', '{"kind": "white"}');
        await page.call('click', 'Save');
        await page.call('see', '"kind": "white"');
        await page.call('type', 'Name of the new key', '__proto__');
        await page.call('type', 'Value of the new key as JSON', '[1]');
        await page.call('click', 'Add');
        await page.call('see', 'Session (2)');
        await page.call('click', 'Edit user:name');
        await page.call('type', 'Value of user:name as JSON', '"Eva"');
        await page.call('click', 'Save');
        await page.call('see', '"Eva"');
        const stored = await page.call('stored');
        const state = JSON.stringify(stored?.state);
        assert.match(state, /"topic":\{"kind":"white"\}/);
        assert.match(state, /"user:name":"Eva"/);
        await page.call('see', 'Events 1 to 8 of 8');
      }));

    it('renames, labels and deletes a session', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('click', 'Session');
        await page.call('type', 'Title of the session', 'Green tea');
        await page.call('type', 'Labels of the session', 'pinned=yes kind=tea');
        await page.call('click', 'Save');
        await page.call('see', 'kind=tea');
        const { title, labels } = (await page.call('stored')) ?? {};
        assert.deepEqual([title, labels], ['Green tea', { pinned: 'yes', kind: 'tea' }]);
        await page.call('click', 'Count events and tokens');
        await page.call('see', '5 events');
        await page.call('click', 'Delete session');
        assert.ok(await page.call('stored'));
        await page.call('click', 'Delete session');
        await page.call('see', 'The session was deleted.');
        assert.equal((await page.call('stored')) ?? undefined, undefined);
      }));

    it('marks the placeholders of a template, and renders it', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('click', 'Template');
        const template = 'Greet {user:name}, offer {topic}, not {price} {mood?} {{x}}.';
        await page.call('type', 'Instruction template', template);
        await page.call('see', 'price has no value: an error');
        assert.deepEqual(await page.call('marks'), [
          'set {user:name}',
          'set {topic}',
          'missing {price}',
          'empty {mood?}',
        ]);
        await page.call('seeTexts', '[aria-label="Missing names"] li', ['price']);
        await page.call('type', 'Instruction template', 'Greet {user:name}, offer {topic}{mood?}.');
        await page.call('see', 'Greet Ada, offer green tea.');
        await page.call('append', 'e6', 'More', { topic: 'black tea' });
        await page.call('see', 'Greet Ada, offer black tea.');
        await picture(page, 'template');
      }));

    it('shows what another tab writes', () =>
      inTwoTabs(async (first, second) => {
        const database = `inspector-${name}`;
        await first.call('openStored', database);
        await second.call('openStored', database);
        await second.call('append', 'e1', 'from the other tab', { topic: 'tea' });
        await first.call('see', 'from the other tab');
        await first.call('click', 'State');
        await first.call('see', '"tea"');
        await first.call('click', 'Storage');
        await first.call('see', 'indexeddb');
        // WebKitGTK does not estimate it.
        if (name !== 'webkit') await first.call('see', 'Used by this site');
      }));

    it('works with the keyboard alone', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        const tabTo = async (what: string): Promise<string> => {
          for (let presses = 0; presses < 60; presses += 1) {
            await page.press(Key.TAB);
            const focused = await page.call('focused');
            if (focused.startsWith(what)) return focused;
          }
          throw new Error(`no way to ${what}`);
        };
        await tabTo('listbox Sessions');
        await page.press(Key.ARROW_DOWN);
        await page.call('see', 'Thank you!');
        await page.call('seeFocus', 'listbox Sessions: Tea');
        await tabTo('listbox Events');
        await page.press(Key.END);
        await page.call('seeFocus', 'listbox Events: user changed keys: 1 Thank you!');
        await page.press(Key.ARROW_UP);
        await page.call('seeFocus', 'listbox Events: guide changed keys: 4 Sencha');
        await page.press(Key.ARROW_UP);
        await page.call('seeFocus', 'listbox Events: guide result of find_tea');
        await page.call('see', '"matcha"');
        await page.press(Key.HOME);
        await page.call('seeFocus', 'listbox Events: user changed keys: 1 Which tea do you have');
        await tabTo('tab Event');
        await page.press(Key.ARROW_RIGHT);
        await page.call('seeFocus', 'tab State');
        await tabTo('button Edit topic');
        await page.press(Key.ENTER);
        await page.call('seeFocus', 'textarea Value of topic as JSON');
        await page.press('"oolong"', Key.TAB);
        await page.call('seeFocus', 'button Save');
        await page.press(Key.ENTER);
        await page.call('see', '"oolong"');
      }));

    it('runs nothing that users stored, under a policy with Trusted Types', () =>
      inPage(async (page) => {
        await page.call('openHostile');
        const rows = await page.call('options', 'Events');
        assert.equal(rows.length, 5);
        for (const row of rows) {
          await page.call('choose', 'Events', row.slice(0, 40));
          await page.call('click', 'Whole event as JSON');
        }
        await page.call('choose', 'Events', 'and \\u0000 and');
        await page.call('see', '\\u202etxet desrever');
        await page.call('click', 'Show more of 1,000,026 characters');
        for (const tab of ['State', 'Template', 'Session', 'Storage'])
          await page.call('click', tab);
        await page.call('click', 'State');
        await page.call('click', 'History of __proto__');
        await page.call('see', '1 changes in all 5 events');
        await page.call('click', 'Template');
        await page.call(
          'type',
          'Instruction template',
          '{user:\u202Eeman} {constructor} {__proto__} {<b>}',
        );
        await page.call('see', '{"polluted":true}');
        await page.call('drop', '<img src=x onerror=pwned=1>.json', '<script>pwned = 1</script>');
        await page.call('see', '<img src=x onerror=pwned=1>.json');
        const { isEnforced, ...security } = await page.call('security');
        assert.deepEqual(security, { violations: [], isRun: false, isPolluted: false, scripts: 0 });
        if (name === 'chromium') assert.ok(isEnforced, 'the page has no Trusted Types');
        // The styles came in under the policy.
        assert.equal(await page.call('style', '.events', 'overflow-y'), 'auto');
      }));

    it('shows 100,000 events with few nodes, to the oldest and back', () =>
      inPage(async (page) => {
        await page.call('openLong', 100_000);
        await page.call('see', 'Events 99,801 to 100,000 of 100,000');
        for (let step = 1; step <= 8; step += 1) {
          const { row, height, nodes } = await page.call('scrollToOlder');
          // 40 rows below the first one held, whatever came before it meanwhile.
          assert.deepEqual(row, [`message ${100_000 - 200 * step + 41}`, 0]);
          assert.ok(height <= 1000 * 64, `${height} pixels`);
          assert.ok(nodes < 900, `${nodes} nodes`);
        }
        await page.call('click', 'Oldest');
        await page.call('see', 'Events 1 to 200 of 100,000');
        assert.match((await page.call('options', 'Events'))[0] ?? '', /message 1$/);
        await page.call('append', 'new', 'the newest of all');
        await page.call('see', 'of 100,001');
        await page.call('click', 'Newest');
        await page.call('see', 'the newest of all');
        await page.call('append', 'newer', 'even newer');
        await page.call('see', 'even newer');
        assert.ok((await page.call('nodes')) < 900);
      }));

    it('shows the last change of a key, also if an earlier read of its history ends later', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('see', 'Thank you!');
        await page.call('click', 'State');
        await page.call('holdHistory');
        await page.call('click', 'History of topic');
        await page.call('append', 'e6', 'More', { topic: 'black tea' });
        await page.call('see', '3 changes in all 6 events');
      }));

    it('shows nothing of a session that was deleted and created again', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('choose', 'Events', 'Sencha and matcha');
        await page.call('see', 'App state');
        await page.call('createAgain');
        await page.call('see', '0 events held of 0');
        await page.call('see', 'Select an event.');
        assert.deepEqual(await page.call('options', 'Events'), []);
        await page.call('append', 'e9', 'a new talk');
        await page.call('see', 'a new talk');
      }));

    it('keeps what the user has selected and typed when it is moved or put back', () =>
      inPage(async (page) => {
        await page.call('openShop', false);
        await page.call('choose', 'Sessions', 'Tea');
        await page.call('see', 'Thank you!');
        await page.call('click', 'Template');
        await page.call('type', 'Instruction template', 'Greet {user:name}.');
        await page.call('see', 'Greet Ada.');
        await page.call('move');
        await page.call('see', 'Greet Ada.');
        assert.equal(await page.call('countWatches'), 0);
        await page.call('append', 'e6', 'still live');
        await page.call('see', 'still live');
        await page.call('leave');
        await page.call('see', 'still live');
        assert.deepEqual(await page.call('properties'), ['shop', 'ada', 'tea-talk']);
      }));

    it('is told what to show by attributes, and can be removed from the page and put back', () =>
      inPage(async (page) => {
        await page.call('openByAttributes');
        await page.call('leave');
        await page.call('append', 'e6', 'still live');
        await page.call('see', 'still live');
      }));

    it('needs one import and no bundler, and may be imported twice', async () => {
      const shown = await context.browser.value<string[]>(`${context.site.origin}/plain`);
      assert.deepEqual(shown, ['s1']);
    });
  });
}
