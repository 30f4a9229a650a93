import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import { injectSessionState, Template } from '../../../../js/service/template/template.js';
import { cases } from '../../../properties.js';

const PIECES = ['{', '}', '\\', '?', ' ', '\n', 'a', 'user:', 'artifact.', '이름', '😀', '\ud800'];
const PLACEHOLDERS = ['{a}', '{a?}', '\\{a}', '\\\\{a}', '{{a}}', '{ user:a }', '{artifact.b c}'];

/** Texts made of what the scanner decides by, so that most hold several placeholders. */
const texts = fc.oneof(
  fc
    .array(fc.constantFrom(...PIECES, ...PLACEHOLDERS), { maxLength: 24 })
    .map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
);

describe('An escaped text', () => {
  it('prints unchanged, alone and between placeholders', async () => {
    const state = { a: 'value', 'user:a': 'value' };
    const property = fc.asyncProperty(texts, async (text) => {
      const escaped = Template.escape(text);
      assert.equal(await injectSessionState(escaped, { state }), text);
      const within = await injectSessionState(`{a}: ${escaped} {a}`, { state });
      assert.equal(within, `value: ${text} value`);
    });
    await fc.assert(property, cases());
  });

  it('is the text itself if it has no placeholder', () => {
    for (const text of ['', 'C:\\dir', '{"k": 1} \\{} {{a}}']) {
      assert.equal(Template.escape(text), text);
    }
  });

  it('has one backslash more before a placeholder, and twice the present ones', () => {
    assert.equal(Template.escape('{a} \\{a} \\\\{a}'), '\\{a} \\\\\\{a} \\\\\\\\\\{a}');
  });

  it('must be made of a string', () => {
    assert.throws(
      () => Template.escape(5 as unknown as string),
      (error) => isSessionError(error, 'invalid_argument'),
    );
  });
});
