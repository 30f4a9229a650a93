import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import {
  pythonJsonToJson,
  digitsOf,
  parseExactly,
  writeExactly,
} from '../../../../js/values/python/numbers.js';
import { cases } from '../../../properties.js';

describe('Numbers of Python', () => {
  it('are read and written with all digits', () => {
    const digits = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map(String);
    const item = fc.oneof(
      digits,
      fc.string().map((text) => JSON.stringify(text)),
    );
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const text = `[${items.join(',')}]`;
        assert.equal(writeExactly(parseExactly(text)), text);
        assert.equal(pythonJsonToJson(text), text);
      }),
      cases(),
    );
  });

  it('that JavaScript represents exactly are numbers', () => {
    const text = '[1234567890123456, -9007199254740991, 0.12345678901234567, 1e300, 1E+16, -0.0]';
    assert.deepEqual(parseExactly(text), JSON.parse(text));
  });

  it('that JavaScript would round keep their digits', () => {
    const [long, text] = parseExactly('[9007199254740993, "9007199254740993"]') as unknown[];
    assert.equal(digitsOf(long), '9007199254740993');
    assert.equal(digitsOf(text), undefined);
    assert.equal(digitsOf(1), undefined);
  });

  it('NaN and the infinities are null, and nothing else changes', () => {
    const text = '{"a": NaN, "b": [Infinity,-Infinity], "NaN": "\\\\\\"-Infinity\\\\", "c": 1.50}';
    assert.equal(
      pythonJsonToJson(text),
      '{"a": null, "b": [null,null], "NaN": "\\\\\\"-Infinity\\\\", "c": 1.50}',
    );
  });

  it('are distinguished from digits in strings of any length', () => {
    const value = [`${'\\"'.repeat(2_000_000)}1234567890123456789`, 'NaN'];
    const text = JSON.stringify(value);
    assert.equal(pythonJsonToJson(text), text);
    assert.deepEqual(parseExactly(text), value);
  });

  it('do not make invalid JSON valid', () => {
    for (const text of ['', '{', '[NaNa]', '"12345678901234567', '[01234567890123456789]']) {
      assert.throws(() => parseExactly(text), SyntaxError, text);
    }
  });
});
