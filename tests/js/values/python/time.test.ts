import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { toMilliseconds, toSeconds, unitOf } from '../../../../js/values/python/time.js';
import { cases } from '../../../properties.js';

const MAX_TIMESTAMP = 253402300799999;

describe('Times in seconds and milliseconds', () => {
  it('are converted to the microsecond', () => {
    assert.equal(toMilliseconds(1741218414.968405), 1741218414968.405);
    assert.equal(toSeconds(1741218414968.405), 1741218414.968405);
    assert.equal(toSeconds(0), 0);
    assert.equal(toMilliseconds(toSeconds(MAX_TIMESTAMP)), MAX_TIMESTAMP);
  });

  it('survive a round trip in either direction', () => {
    const microseconds = fc.integer({ min: 0, max: 2 ** 33 * 1e6 - 1 });
    fc.assert(
      fc.property(microseconds, (microseconds) => {
        const milliseconds = microseconds / 1e3;
        const seconds = microseconds / 1e6;
        assert.equal(toMilliseconds(toSeconds(milliseconds)), milliseconds);
        assert.equal(toSeconds(toMilliseconds(seconds)), seconds);
      }),
      cases(),
    );
  });

  it('survive a round trip until the year 9999 if they are whole milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TIMESTAMP }), (milliseconds) => {
        assert.equal(toMilliseconds(toSeconds(milliseconds)), milliseconds);
      }),
      cases(),
    );
  });

  it('with a finer fraction are rounded once, and then stay the same', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: MAX_TIMESTAMP, noNaN: true }), (milliseconds) => {
        const seconds = toSeconds(milliseconds);
        assert.equal(toSeconds(toMilliseconds(seconds)), seconds);
      }),
      cases(),
    );
  });

  it('are distinguished if they lie in 2001 to 2100', () => {
    for (const time of [1e9, 1.7e9, 1741218414.968405, 4102444799]) {
      assert.equal(unitOf(time), 'seconds', `${time}`);
      assert.equal(unitOf(time * 1e3), 'milliseconds', `${time * 1e3}`);
    }
  });

  it('are ambiguous if both units are equally unlikely', () => {
    for (const time of [1, 1000, 999999999, 4102444800, 2.5e11]) {
      assert.equal(unitOf(time), undefined, `${time}`);
    }
  });
});
