import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTooDeep, MAX_TEXT_LEVELS, parseJson } from '../../../../js/values/json/parse.js';

/** Nests a text in arrays and objects by turns. */
function nested(levels: number, text = ''): string {
  let whole = text;
  for (let level = 0; level < levels; level += 1) {
    whole = level % 2 === 0 ? `[${whole}]` : `{"a":${whole}}`;
  }
  return whole;
}

describe('parseJson', () => {
  it('parses a text with the most levels', () => {
    const text = nested(MAX_TEXT_LEVELS, '1');
    assert.equal(JSON.stringify(parseJson(text)), text);
  });

  it('refuses one more level', () => {
    assert.throws(() => parseJson(nested(MAX_TEXT_LEVELS + 1)), /more than 260 levels/);
  });

  it('refuses as many levels as would overflow the stack, at any place', () => {
    const deep = nested(200_000);
    for (const text of [
      deep,
      `{"a":1,"b":${deep}}`,
      `[[],[{}],${deep}]`,
      `{"a":"\\"[","b":${deep}}`,
    ]) {
      assert.throws(() => parseJson(text), SyntaxError);
    }
  });

  it('counts levels and not brackets', () => {
    const many = `[${'[],{},'.repeat(1000)}0]`;
    assert.equal(isTooDeep(many), false);
    assert.equal((parseJson(many) as unknown[]).length, 2001);
  });

  it('does not count brackets in strings', () => {
    const text = JSON.stringify({ a: '[{'.repeat(1000), b: `\\"${'['.repeat(1000)}` });
    assert.equal(isTooDeep(text), false);
  });
});
