import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { newEventId } from '../../../../js/values/model/event/create_event.js';
import { parseMark, textOfMark } from '../../../../js/values/model/event/metadata.js';

const MARK = { start: newEventId(), number: 7, began: 1_760_000_000_000, hasChannel: true };

describe('The mark of a run', () => {
  it('is read as it was written, and no two texts of it are the same', () => {
    const without = { ...MARK, hasChannel: false };
    const texts = [textOfMark(MARK), textOfMark(MARK), textOfMark(without)];
    assert.deepEqual(texts.map(parseMark), [MARK, MARK, without]);
    assert.notEqual(texts[0], texts[1]);
  });

  it('is no random id, and nothing else', () => {
    const [start, number, began, channel, nonce] = textOfMark(MARK).split('/');
    const others = [
      newEventId(),
      '',
      undefined,
      7,
      ['a/1/2/1/c'],
      `${start}/${number}/${began}`,
      `${start}/${number}/${began}/${nonce}`,
      `${start}/-1/${began}/${channel}/${nonce}`,
      `${start}/${number}/soon/${channel}/${nonce}`,
      `${start}/${number}/${'9'.repeat(16)}/${channel}/${nonce}`,
      `${start}/${number}/${began}/2/${nonce}`,
      `${start}/${number}/${began}/${channel}/${nonce}/more`,
    ];
    assert.deepEqual(
      others.map(parseMark),
      others.map(() => undefined),
    );
  });
});
