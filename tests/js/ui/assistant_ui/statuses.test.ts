import assert from 'node:assert/strict';
import { it } from 'node:test';

import { answered, message, reloaded } from './threads.js';

it('A thread keeps how its messages ended', async () => {
  const statuses = [
    { type: 'incomplete', reason: 'cancelled' },
    { type: 'incomplete', reason: 'length' },
    { type: 'incomplete', reason: 'error', error: 'no model' },
    { type: 'complete', reason: 'stop' },
  ];
  // A call whose result nobody waits for: a generated user interface, for example.
  const calls = [
    { type: 'requires-action', reason: 'tool-calls' },
    { type: 'complete', reason: 'unknown' },
  ];
  const messages = [
    ...statuses.map((status, index) => message(`m${index}`, 'assistant', [], { status })),
    ...calls.map((status, index) => message(`c${index}`, 'assistant', [answered], { status })),
  ];
  const { loaded } = await reloaded(...messages);
  assert.deepEqual(
    loaded.messages.map(({ message }) => message.role === 'assistant' && message.status),
    [...statuses, ...calls],
  );
});
