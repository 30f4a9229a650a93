// Export and import in the inspector, in real pages of one of the browsers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { BrowserName } from '../browser.js';
import { inspectorPages, type Page } from './inspector_pages.js';

export function importsIn(name: BrowserName): void {
  describe(`Export and import in the inspector in ${name}`, () => {
    const { inPage } = inspectorPages(name);

    /** Runs in an inspector that shows one view at a time, with the text of a file for each new id. */
    const inNarrow = (run: (page: Page, fileOf: (id: string) => string) => Promise<void>) =>
      inPage(async (page) => {
        await page.call('openShop', true);
        const file = JSON.parse(await page.call('exported', 'tea-talk')) as object;
        await page.call('width', 375);
        await page.call('seeNarrow');
        await run(page, (id) => JSON.stringify({ ...file, id }));
      });

    it('exports a session, and imports it by button and by drop', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('click', 'Session');
        await page.call('click', 'Export for Python');
        const [[fileName = '', text = ''] = []] = await page.call('savedFiles');
        assert.equal(fileName, 'tea-talk.session.json');
        const file = JSON.parse(text) as { app_name: string; events: unknown[]; id: string };
        assert.deepEqual([file.app_name, file.events.length], ['shop', 5]);
        await page.call('drop', 'again.json', text);
        await page.call('see', 'already exists');
        await page.call('click', 'Import as a copy');
        await page.call('seeNot', 'already exists');
        await page.call('seeSelected', String.raw`^[\da-f-]{36}$`);
        await page.call('drop', 'new.json', JSON.stringify({ ...file, id: 'dropped' }));
        assert.deepEqual(await page.call('seeSelected', '^dropped$'), ['dropped']);
        await page.call('see', 'Thank you!');
        const lines = ['picked-1', 'picked-2'].map((id) => JSON.stringify({ ...file, id }));
        await page.call('pick', 'many.jsonl', lines.join('\n'));
        await page.call('see', '2 sessions imported');
        assert.deepEqual(await page.call('seeSelected', '^picked-2$'), ['picked-2']);
        assert.match(await page.call('exported', 'dropped'), /Thank you!/);
        await page.call('drop', 'broken.json', '{"id": 7');
        await page.call('see', 'broken.json:');
      }));

    it('a narrow inspector imports what is dropped onto any view, once', () =>
      inNarrow(async (page, fileOf) => {
        for (const view of ['Sessions', 'Template']) {
          await page.call('click', view);
          await page.call('drop', 'file.json', fileOf(`from-${view}`));
          await page.call('seeSelected', `^from-${view}$`);
          await page.call('see', 'Thank you!');
          await page.call('click', 'Sessions');
          await page.call('see', '1 session imported');
          await page.call('seeNot', 'already exists');
        }
      }));

    it('files that are dropped while an import runs are imported after it', () =>
      inNarrow(async (page, fileOf) => {
        await page.call('holdCreations');
        for (const id of ['one', 'two', 'three']) await page.call('drop', `${id}.json`, fileOf(id));
        await page.call('releaseCreations');
        await page.call('seeSelected', '^three$');
        await page.call('click', 'Sessions');
        await page.call('see', '3 sessions imported');
      }));

    it('a narrow inspector shows why some of the sessions were not imported', () =>
      inNarrow(async (page, fileOf) => {
        await page.call('click', 'State');
        await page.call('drop', 'many.jsonl', `${fileOf('whole')}\n{"id": 7`);
        await page.call('see', 'many.jsonl, line 2:');
        assert.deepEqual(await page.call('seeSelected', '^whole$'), ['whole']);
        await page.call('see', '1 session imported');
      }));

    it('an import that ends after the service has changed selects nothing in the new one', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        const file = JSON.parse(await page.call('exported', 'tea-talk')) as object;
        await page.call('holdCreations');
        await page.call('drop', 'late.json', JSON.stringify({ ...file, id: 'late' }));
        await page.call('changeService');
        await page.call('releaseCreations');
        await page.call('seeStored', 'late');
        assert.deepEqual(await page.call('properties'), ['shop', 'ada', 'tea-talk']);
        await page.call('see', 'Thank you!');
      }));

    it('hostile files are refused with their reasons, and nothing of them is run', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        const id = '<img src=x onerror="pwned=1">\u202ejson';
        for (const [text, problem] of [
          ['', 'is not JSON'],
          ['['.repeat(100_000), 'is not JSON'],
          [
            '{"__proto__":{"polluted":1},"id":"p","appName":"shop","userId":"ada"}',
            '__proto__ is not',
          ],
          ['{"id":7,"appName":"shop","userId":"ada","events":[null]}', 'must be'],
        ] as const) {
          await page.call('drop', `${id}.json`, text);
          await page.call('see', problem);
          await page.call('see', '<img src=x onerror="pwned=1">\\u202ejson');
        }
        await page.call('drop', 'many.jsonl', '{"id":7\n'.repeat(1000));
        await page.call('see', 'many.jsonl, line 20:');
        await page.call('see', '980 more problems');
        const { isRun, isPolluted, violations, scripts } = await page.call('security');
        assert.deepEqual([isRun, isPolluted, violations, scripts], [false, false, [], 0]);
      }));

    it('a text may be dropped into a field', () =>
      inPage(async (page) => {
        await page.call('openShop', true);
        await page.call('click', 'Template');
        assert.ok(await page.call('dropText', 'Instruction template', '{topic}'));
      }));
  });
}
