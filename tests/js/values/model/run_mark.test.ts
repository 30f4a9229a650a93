import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { newEventId } from '../../../../js/values/model/event/create_event.js';
import { parseMark, textOfMark } from '../../../../js/values/model/event/metadata.js';

const MARK = { start: newEventId(), number: 7, began: 1_760_000_000_000 };

describe('The mark of a run', () => {
  it('is read as it was written, and no two texts of it are the same', () => {
    const texts = [textOfMark(MARK), textOfMark(MARK)];
    assert.deepEqual(texts.map(parseMark), [MARK, MARK]);
    assert.notEqual(texts[0], texts[1]);
  });

  it('is no random id, and nothing else', () => {
    const [start, number, began, nonce] = textOfMark(MARK).split('/');
    const others = [
      newEventId(),
      '',
      undefined,
      7,
      ['a/1/2/c'],
      `${start}/${number}/${began}`,
      `${start}/-1/${began}/${nonce}`,
      `${start}/${number}/soon/${nonce}`,
      `${start}/${number}/${'9'.repeat(16)}/${nonce}`,
      `${start}/${number}/${began}/${nonce}/more`,
    ];
    assert.deepEqual(
      others.map(parseMark),
      others.map(() => undefined),
    );
  });
});
