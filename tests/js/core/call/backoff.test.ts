import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backoff } from '../../../../js/core/call/scheduling.js';

describe('The pause before another attempt', () => {
  it('doubles up to the longest, and is at least half of that', () => {
    for (const [attempt, whole] of [100, 200, 400, 800, 1600, 1600, 1600].entries()) {
      for (let draw = 0; draw < 100; draw += 1) {
        const pause = backoff(attempt, 100, 1600);
        assert.ok(pause >= whole / 2 && pause <= whole, `${pause} after attempt ${attempt}`);
      }
    }
  });

  it('is finite after any number of attempts', () => {
    assert.ok(backoff(5000, 1, 50) <= 50);
  });

  it('is random', () => {
    const pauses = new Set(Array.from({ length: 20 }, () => backoff(3, 100, 1600)));
    assert.ok(pauses.size > 1);
  });
});
