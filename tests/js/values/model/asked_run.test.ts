import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { NewEvent } from '../../../../js/index.js';
import { requireRunParts, takeRunMessage } from '../../../../js/values/model/asked_run.js';

const message: NewEvent = { id: 'm1', invocationId: 'i1', author: 'user', content: 'Tea?' };

describe('takeRunMessage', () => {
  it('takes the message of a user, also if it must not be stored already', () => {
    assert.equal(takeRunMessage('event', [message], undefined), message);
    assert.equal(takeRunMessage('event', [message], null), message);
    assert.equal(takeRunMessage('events', [message], { m1: null }), message);
  });

  const REFUSED: readonly [string, string, readonly NewEvent[], object?][] = [
    ['no event', 'events', []],
    ['two events', 'events', [message, { ...message, id: 'm2' }]],
    ['a partial event', 'events', [{ ...message, partial: true }]],
    ['a summary of a view', 'events', [{ ...message, id: 'adk-view:m1' }]],
    ['an event of an agent', 'events[0].author', [{ ...message, author: 'guide' }]],
    ['no content', 'events[0].content', [{ ...message, content: undefined }]],
    ['no parts', 'events[0].content', [{ ...message, content: { role: 'user', parts: [] } }]],
    ['a version to replace', 'expectedEvents', [message], { m1: 7 }],
    ['another event', 'expectedEvents', [message], { m2: null }],
  ];
  for (const [name, key, events, expected] of REFUSED) {
    it(`refuses ${name}`, () => {
      const error = { code: 'invalid_argument', key };
      assert.throws(() => takeRunMessage('events', events, expected), error);
    });
  }
});

describe('requireRunParts', () => {
  it('refuses content without parts', () => {
    requireRunParts('message.content', { content: 'Tea?' });
    const error = { code: 'invalid_argument', key: 'message.content' };
    for (const content of [undefined, {}, { parts: [] }]) {
      assert.throws(() => requireRunParts('message.content', { content: content! }), error);
    }
  });
});
