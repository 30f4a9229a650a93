// The revision of a session that Python writes to. Python sets the session's time to that of its event, even backwards.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import {
  Revisions,
  type RevisionColumns,
} from '../../../../../js/stores/database/tables/revisions.js';
import { microsToTimeText } from '../../../../../js/values/python/micros.js';
import type { SessionRow } from '../../../../../js/core/storage/rows.js';
import { cases } from '../../../../properties.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
const CREATED = 1_700_000_000_000_000;

/** The rows of one session, and the writes of both programs to them. */
class Tables {
  updated = CREATED;
  readonly times: number[] = [];
  sideTime: number | null = null;
  replaced: number | null = null;

  pythonAppends(time: number): void {
    this.times.push(time);
    this.updated = time;
  }

  weAppend(time: number): void {
    this.times.push(time);
    this.updated = time;
  }

  weReplace(time: number): void {
    this.updated = this.sideTime = this.replaced = time;
  }

  get latest(): number {
    return Math.max(CREATED, this.updated, this.sideTime ?? 0, ...this.times);
  }

  revisionIn(revisions: Revisions, sessionId = KEY.sessionId): number {
    const row: SessionRow = {
      ...KEY,
      sessionId,
      created: CREATED,
      revision: this.updated,
      lastUpdateTime: this.updated / 1000,
      state: '{}',
    };
    const text = (time: number | null) => (time === null ? null : microsToTimeText(time));
    const columns: RevisionColumns = {
      newest: this.times.length === 0 ? null : microsToTimeText(Math.max(...this.times)),
      later: this.times.filter((time) => time >= this.updated).length,
      side_time: text(this.sideTime),
      replaced_at: text(this.replaced),
    };
    return revisions.withRevision(row, columns).revision;
  }
}

/** Times from a small range, so that some are equal. */
const time = fc.integer({ min: -4, max: 8 });
const step = fc.oneof(
  fc.record({ who: fc.constant('python' as const), time }),
  fc.record({ who: fc.constantFrom('append' as const, 'replace' as const), program: fc.nat(1) }),
  fc.record({ who: fc.constant('read' as const), program: fc.nat(1) }),
);

describe('The revision of a session', () => {
  it('is its update_time while all writes are in the order of their times', () => {
    const revisions = new Revisions();
    const tables = new Tables();
    assert.equal(tables.revisionIn(revisions), CREATED);
    tables.pythonAppends(CREATED + 7);
    assert.equal(tables.revisionIn(revisions), CREATED + 7);
    tables.weReplace(CREATED + 8);
    assert.equal(tables.revisionIn(revisions), CREATED + 8);
    tables.weAppend(CREATED + 9);
    assert.equal(tables.revisionIn(revisions), CREATED + 9);
  });

  it('grows with each write, whatever its time, and only then', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tables = new Tables();
        // Each program has its own memory.
        const programs = [new Revisions(), new Revisions()];
        let writes = 0;
        const seen = programs.map(() => ({ writes: -1, revision: 0 }));
        const read = (program: number): number => {
          const revision = tables.revisionIn(programs[program] ?? new Revisions());
          const last = seen[program];
          assert.ok(last);
          if (last.writes === writes) assert.equal(revision, last.revision);
          else assert.ok(revision > last.revision, `${revision} after ${last.revision}`);
          seen[program] = { writes, revision };
          return revision;
        };
        for (const given of steps) {
          if (given.who === 'python') tables.pythonAppends(CREATED + given.time);
          else if (given.who === 'read') read(given.program);
          else {
            // A write of the package reads first, and gets a later time than all rows.
            const next = Math.max(read(given.program), tables.latest) + 1;
            if (given.who === 'append') tables.weAppend(next);
            else tables.weReplace(next);
          }
          if (given.who !== 'read') writes += 1;
        }
        for (const program of programs.keys()) read(program);
      }),
      cases(),
    );
  });

  it('is remembered for the last 10,000 sessions with writes out of order', () => {
    const revisions = new Revisions();
    const tables = new Tables();
    tables.weAppend(CREATED + 9);
    tables.pythonAppends(CREATED + 1);
    const first = tables.revisionIn(revisions, 'first');
    tables.pythonAppends(CREATED + 2);
    const second = tables.revisionIn(revisions, 'first');
    for (let n = 1; n < 10_000; n += 1) tables.revisionIn(revisions, `${n}`);
    assert.equal(tables.revisionIn(revisions, 'first'), second);
    tables.revisionIn(revisions, 'one too many');
    assert.equal(tables.revisionIn(revisions, 'first'), first);
  });
});
