import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  partsOfText,
  TextParts,
} from '../../../../../../js/stores/database/engines/postgresql/channel_parts.js';

const SENDER = '0123abcd';

/** Returns the texts that come of parts. */
function joined(parts: readonly string[], texts = new TextParts()): string[] {
  return parts.flatMap((part) => texts.add(part) ?? []);
}

describe('The parts of a text', () => {
  it('have at most 7,900 bytes, and join to the text', () => {
    for (const character of ['a', 'é', '茶', '🍵']) {
      for (const length of [1, 100, 3917, 7835, 7836, 7837, 50_000]) {
        const text = `[${character.repeat(length)}]`;
        const parts = partsOfText(SENDER, Number.MAX_SAFE_INTEGER, text);
        for (const part of parts) assert.ok(Buffer.byteLength(part) <= 7900, part.slice(0, 50));
        assert.ok(parts.length <= Buffer.byteLength(text) / 7800 + 1, String(parts.length));
        assert.deepEqual(joined(parts), [text]);
      }
    }
  });

  it('are joined by their senders', () => {
    const text = 'tea'.repeat(5000);
    const [one, other] = ['00000000', '11111111'].map((sender) => partsOfText(sender, 1, text));
    const mixed = one!.flatMap((part, index) => [part, other![index]!]);
    assert.deepEqual(joined(mixed), [text, text]);
  });

  it('that are lost, repeated or in another order give no text, and the next text comes', () => {
    const text = 'tea'.repeat(7000);
    const [first = '', second = '', third = ''] = partsOfText(SENDER, 1, text);
    const wrong = [
      [first, third],
      [second, third],
      [first, first, second, third],
      [first, third, second],
      [third, second, first],
    ];
    for (const parts of wrong) {
      const texts = new TextParts();
      assert.deepEqual(joined(parts, texts), []);
      assert.deepEqual(joined(partsOfText(SENDER, 2, text), texts), [text]);
    }
  });

  it('leave what is no part as it is', () => {
    const foreign = ['', 'tea', '[1]', `${SENDER}.1.0`, `${SENDER}.1.0.99999:tea`, 'x.1.0.1:tea'];
    assert.deepEqual(joined(foreign), foreign);
  });
});
