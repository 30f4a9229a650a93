import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Event } from '../../../../js/index.js';
import { failureOfEvent, shownOf } from '../../../../js/values/model/event/shown.js';

const eventOf = (members: object): Event => createEvent(members);
const withParts = (...parts: unknown[]) => ({ content: { role: 'model', parts } }) as object;

describe('shownOf', () => {
  it('joins texts, without thoughts and the texts that stand for files', () => {
    const event = eventOf({
      ...withParts(
        { text: 'Hm.', thought: true },
        { text: 'Green ' },
        { text: '[Uploaded Artifact: "tea.png"]' },
        { text: 'tea' },
      ),
      customMetadata: { adk_session_wasm_files: [{ part: 2, name: 'tea.png', version: 0 }] },
    });
    const { text, files, isEmpty } = shownOf(event);
    assert.deepEqual(
      [text, files.map(({ name }) => name), isEmpty],
      ['Green tea', ['tea.png'], false],
    );
  });

  const seen: Readonly<Record<string, object>> = {
    'a text': withParts({ text: 'a' }),
    data: withParts({ inlineData: { mimeType: 'image/png', data: 'AA==' } }),
    'a file': withParts({ fileData: { fileUri: 'gs://a/b' } }),
    code: withParts({ executableCode: { code: '1' } }),
    'the result of code': withParts({ codeExecutionResult: { output: '1' } }),
    'a citation': { citationMetadata: { citations: [{ uri: 'https://tea.example' }] } },
    'a source': { groundingMetadata: { groundingChunks: [{}] } },
  };
  for (const [what, members] of Object.entries(seen)) {
    it(`is not empty with ${what}`, () => assert.equal(shownOf(eventOf(members)).isEmpty, false));
  }

  const unseen: Readonly<Record<string, object>> = {
    nothing: {},
    'an empty text': withParts({ text: '' }),
    'a thought': withParts({ text: 'Hm.', thought: true }),
    'a call': withParts({ functionCall: { name: 'f' } }),
    'a response': withParts({ functionResponse: { name: 'f', response: {} } }),
    'no citations': { citationMetadata: { citations: [] }, groundingMetadata: {} },
    'an error alone': { errorCode: '429' },
    'something else in place of parts': { content: { parts: 'tea' } },
  };
  for (const [what, members] of Object.entries(unseen)) {
    it(`is empty with ${what}`, () => assert.equal(shownOf(eventOf(members)).isEmpty, true));
  }

  it('has the error of an event: its code, also a number, and its message', () => {
    const error = (members: object) => shownOf(members).error;
    assert.deepEqual(error({ errorCode: '429', errorMessage: 'quota' }), {
      code: '429',
      message: 'quota',
    });
    assert.deepEqual(error({ errorCode: 429 }), { code: '429', message: '429' });
    for (const errorCode of ['', null, undefined, 'INVOCATION_ABORTED', 'RUN_STOPPED']) {
      assert.equal(error({ errorCode, errorMessage: 'x' }), undefined, String(errorCode));
    }
  });
});

describe('failureOfEvent', () => {
  it('is the error of an event with nothing to see and no call', () => {
    const errorCode = 'SAFETY';
    assert.equal(failureOfEvent({ errorCode })?.code, 'SAFETY');
    assert.equal(
      failureOfEvent({ errorCode, ...withParts({ text: 'a', thought: true }) })?.code,
      'SAFETY',
    );
    assert.equal(failureOfEvent({ errorCode, ...withParts({ text: 'a' }) }), undefined);
    assert.equal(failureOfEvent({ errorCode, ...withParts({ functionCall: {} }) }), undefined);
  });
});
