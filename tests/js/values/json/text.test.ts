import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  fitsUtf8,
  isWellFormed,
  isWellFormedByPattern,
  replaceLoneSurrogates,
} from '../../../../js/values/json/text.js';
import { cases } from '../../../properties.js';

/** Strings of any UTF-16 units, many of them lone surrogates, backslashes and letters of escapes. */
const units = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(...Array.from('\\ud8"0', (unit) => unit.charCodeAt(0))),
    ),
    { maxLength: 12 },
  )
  .map((codes) => String.fromCharCode(...codes));

/** A text with lone surrogates replaced by TextEncoder. */
function mended(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

test('a string is well-formed exactly if UTF-8 can represent it', () => {
  fc.assert(fc.property(units, (text) => assert.equal(isWellFormed(text), mended(text) === text)));
});

test('the fallback for isWellFormed gives the same results', () => {
  fc.assert(
    fc.property(units, (text) => assert.equal(isWellFormedByPattern(text), isWellFormed(text))),
  );
});

test('lone surrogates in JSON text become U+FFFD, in strings and keys', () => {
  fc.assert(
    fc.property(units, units, (key, value) => {
      const json = replaceLoneSurrogates(JSON.stringify([{ [key]: value }]));
      assert.deepEqual(JSON.parse(json), [
        Object.defineProperty({}, mended(key), {
          value: mended(value),
          enumerable: true,
          configurable: true,
          writable: true,
        }),
      ]);
    }),
    cases(),
  );
});

test('the literal text of an escape is unchanged', () => {
  const json = JSON.stringify('\\ud800 \\\\udfff');
  assert.equal(replaceLoneSurrogates(json), json);
});

test('fitsUtf8 agrees with an encoder', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 });
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 700 }), (value, limit) => {
      fc.pre(isWellFormed(value));
      const bytes = new TextEncoder().encode(value).length;
      assert.equal(fitsUtf8(value, limit), bytes <= limit);
      assert.ok(fitsUtf8(value, bytes));
      assert.equal(fitsUtf8(value, bytes - 1), false);
    }),
  );
});
