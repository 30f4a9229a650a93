import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';

import { SQLITE_LAYOUT } from '../../../../js/stores/database/tables/layout.js';
import {
  LAST_MICROS,
  LAST_REVISION,
  millisecondsToMicros,
  parseMilliseconds,
  parseTime,
  microsToTimeText,
  millisecondsToTimeText,
} from '../../../../js/values/python/micros.js';
import { cases } from '../../../properties.js';

describe('A time of the tables', () => {
  it('is text with six digits after the second, in UTC', () => {
    assert.equal(microsToTimeText(1_700_000_000_250_000), '2023-11-14 22:13:20.250000');
    assert.equal(microsToTimeText(1), '1970-01-01 00:00:00.000001');
    assert.equal(millisecondsToTimeText(253402300799999), '9999-12-31 23:59:59.999000');
    assert.equal(millisecondsToTimeText(1000.9999), '1970-01-01 00:00:01.001000');
  });

  it('is exact to the microsecond after a round trip', () => {
    for (const micros of [0, 1, 999, 1000, 1_763_652_937_123_457, LAST_REVISION]) {
      assert.equal(parseTime(microsToTimeText(micros)), micros);
    }
    for (const milliseconds of [0, 0.001, 3000.25, 1763652937123.457, 253402300799999]) {
      assert.equal(parseMilliseconds(millisecondsToTimeText(milliseconds)), milliseconds);
    }
  });

  it('is parsed in every form that Python reads', () => {
    const micros = 1_700_000_000_250_000;
    for (const text of [
      '2023-11-14 22:13:20.25',
      '2023-11-14T22:13:20.250000',
      '2023-11-14T22:13:20.250Z',
      '2023-11-14 23:13:20.25+01:00',
      '2023-11-14 23:13:20.25+01',
    ]) {
      assert.equal(parseTime(text), micros, text);
    }
    assert.equal(parseTime(1_700_000_000.25), micros);
    assert.equal(parseTime('2023-11-14'), Date.UTC(2023, 10, 14) * 1000);
  });

  it('is undefined for text that is not a time', () => {
    for (const value of [
      '',
      'yesterday',
      '2023-13-45 00:00:00',
      '2023-13-01 00:00:00.000000',
      '2023-12-01 25:00:00.000000',
      '2023-12-01 00:00:0a.000000',
      '2023-12-01 00-00-00.000000',
      null,
      undefined,
      NaN,
      -1,
    ]) {
      assert.equal(parseTime(value), undefined, String(value));
    }
  });

  it('after 2242 is not a revision, and times near the limit survive a round trip', () => {
    assert.equal(millisecondsToMicros(253402300799999), LAST_MICROS);
    assert.equal(parseTime('9999-12-31 23:59:59'), LAST_REVISION);
    assert.equal(parseTime(microsToTimeText(LAST_MICROS + 1)), LAST_MICROS + 1);
  });
});

/** Microseconds of any time that we write, the first and the last ones more often than others. */
const anyMicros = fc.oneof(
  fc.integer({ min: 0, max: LAST_REVISION }),
  fc.integer({ min: 1_700_000_000_000_000, max: 1_900_000_000_000_000 }),
  // From here on products with 1e6 are off by one, where seconds are not split.
  fc.integer({ min: 2 ** 31 * 1e6, max: 2 ** 32 * 1e6 + 1e12 }),
);

describe('A time in seconds, as a REAL', () => {
  const stored = new Sqlite(':memory:');
  stored.exec('create table times (time real not null)');
  const insert = stored.prepare('insert into times values (?) returning time').pluck();

  it('is exact to the microsecond after a round trip', () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const time = insert.get(SQLITE_LAYOUT.time(micros));
        assert.equal(parseTime(time), micros);
        assert.equal(SQLITE_LAYOUT.timeOf(micros / 1000), time);
      }),
      cases(),
    );
  });

  it("is later than the previous microsecond, and than Python's value within it", () => {
    fc.assert(
      fc.property(anyMicros, fc.integer({ min: -8, max: 8 }), (micros, steps) => {
        fc.pre(micros <= LAST_MICROS);
        const before = SQLITE_LAYOUT.time(micros) as number;
        // Doubles that Python's clock may give.
        const ofPython = before + steps * 2 ** -22;
        const revision = parseTime(Math.max(ofPython, 0)) ?? 0;
        assert.ok((SQLITE_LAYOUT.time(revision + 1) as number) > ofPython);
      }),
      cases(),
    );
  });
});
