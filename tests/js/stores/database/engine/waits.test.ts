// The limits of waits, which are timers.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Waits } from '../../../../../js/stores/database/engine/waits.js';
import { MAX_TIMEOUT_MS } from '../../../../../js/values/errors/option_values.js';

it('a wait whose multiplied limit is longer than any timer still waits', async () => {
  const waits = new Waits(MAX_TIMEOUT_MS - 1000);
  const timedOut = () => new Error('the limit has passed');
  assert.equal(await waits.until(pause(20, 'the result'), timedOut, { factor: 20 }), 'the result');
});
