import { describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { createEvent, filesOf } from '../../../../js/index.js';
import { titleOf } from '../../../../js/values/model/event/auto_title.js';

const PNG = { part: 0, name: 'tea.png', version: 2, mimeType: 'image/png', size: 68 };

function message(files: unknown, ...texts: string[]) {
  return createEvent({
    author: 'user',
    content: { role: 'user', parts: texts.map((text) => ({ text })) },
    customMetadata: { adk_session_wasm_files: files },
  });
}

describe('The files of a message', () => {
  it('are those whose text stands in their part', () => {
    const text = '[Uploaded Artifact: "tea.png"]';
    deepEqual(filesOf(message([PNG], text)), [PNG]);
    deepEqual(filesOf(message([PNG], 'What is on it?', text)), []);
    deepEqual(filesOf(message([PNG], '[Uploaded Artifact: "cup.png"]')), []);
  });

  it('come in the order of the parts, one for each', () => {
    const text = '[Uploaded Artifact: "tea.png"]';
    const second = { ...PNG, part: 1 };
    deepEqual(filesOf(message([second, PNG, PNG], text, text)), [PNG, second]);
  });

  it('leave out what another program has stored in their place', () => {
    const text = '[Uploaded Artifact: "tea.png"]';
    const bare = { part: 0, name: 'tea.png', version: 2 };
    for (const damaged of [null, 1, {}, { ...PNG, part: -1 }, { ...PNG, version: 0.5 }]) {
      deepEqual(filesOf(message([damaged], text)), []);
    }
    deepEqual(filesOf(message([{ ...PNG, mimeType: 7, size: 'big' }], text)), [bare]);
    for (const files of [null, 'tea.png', { 0: PNG }]) deepEqual(filesOf(message(files, text)), []);
  });

  it('are no part of the title that the message gives to its session', () => {
    const event = message([PNG], '[Uploaded Artifact: "tea.png"]', 'What is on it?');
    equal(titleOf(JSON.stringify(event)), 'What is on it?');
    equal(titleOf(JSON.stringify(message([PNG], '[Uploaded Artifact: "tea.png"]'))), undefined);
  });
});
