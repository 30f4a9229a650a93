import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { pickMembers } from '../../../../js/values/json/pick_members.js';
import { cases } from '../../../properties.js';

describe('Picked members', () => {
  it('are those of the parsed object, whatever its values and white space are', () => {
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom('__proto__', '"', '\\', 'a\\"b', 'topic', ''),
    );
    const state = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }));
    const property = fc.property(
      state,
      fc.array(key),
      fc.nat(3),
      fc.nat(99),
      (given, others, indent, at) => {
        const text = JSON.stringify(given, undefined, indent);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const keys = Object.keys(parsed);
        const wanted = new Set([...others, ...keys.slice(at % (keys.length + 1))]);
        const expected = Object.entries(parsed).filter(([name]) => wanted.has(name));
        assert.deepEqual(Object.entries(pickMembers(text, wanted)), expected);
      },
    );
    fc.assert(property, cases());
  });

  it('are found under keys with escapes', () => {
    const text = ' { "\\u0061" : {"b":"}\\\\"} , "c\\"" :[ "]" ]\n}';
    assert.deepEqual(pickMembers(text, new Set(['a', 'c"'])), { a: { b: '}\\' }, 'c"': [']'] });
  });

  for (const text of [
    '',
    '[]',
    'null',
    'undefined',
    '{"a":',
    '{"a":1',
    '{"a',
    '{"a"',
    '{"a":nul}',
    '{"b":[1,"a":2',
  ]) {
    it(`of ${JSON.stringify(text)} are refused`, () => {
      assert.throws(() => pickMembers(text, new Set(['a'])), SyntaxError);
    });
  }
});
