import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import type { Notice } from '../../../../js/index.js';
import type { ChangeNotice } from '../../../../js/values/model/notice.js';
import type { SharedScope } from '../../../../js/values/state/scope.js';
import { PendingNotices, stateNotice } from '../../../../js/core/watch/watcher.js';
import { cases } from '../../../properties.js';

const NAMES = ['app', 'user'] as const;
const USER = { appName: 'app', userId: 'user' };
const of = (
  type: 'created' | 'appended',
  sessionId: string,
  revision: number,
  ...scopes: SharedScope[]
): ChangeNotice => ({ type, ...USER, sessionId, revision, scopes });
const deleted = (sessionId: string, revision?: number): ChangeNotice => {
  return { type: 'deleted', ...USER, sessionId, ...(revision !== undefined && { revision }) };
};
const userDeleted = (revision?: number): ChangeNotice => {
  return { type: 'deleted', ...USER, ...(revision !== undefined && { revision }) };
};
const state = (...scopes: SharedScope[]): ChangeNotice => stateNotice(...NAMES, scopes);

function drain(pending: PendingNotices): Notice[] {
  const notices: Notice[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) notices.push(next);
  return notices;
}

/** Pushes notices, and returns all pending ones. */
function remaining(...notices: ChangeNotice[]): Notice[] {
  const pending = new PendingNotices();
  for (const notice of notices) pending.push(notice);
  return drain(pending);
}

describe('Pending notices', () => {
  it('keep one update of a session beside its other notices', () => {
    const updated: ChangeNotice = { type: 'updated', ...USER, sessionId: 's' };
    const appended = of('appended', 's', 2);
    assert.deepEqual(remaining(updated, appended, updated), [updated, appended]);
    assert.deepEqual(remaining(updated, userDeleted(3)), [updated, userDeleted(3)]);
  });

  it('keep only the newest notice of each session, in the position of the first', () => {
    const notices = [of('appended', 'a', 2), of('appended', 'b', 5), of('appended', 'a', 3)];
    assert.deepEqual(remaining(...notices), [of('appended', 'a', 3), of('appended', 'b', 5)]);
  });

  it('drop a notice that is older than one received before, pending or delivered', () => {
    assert.deepEqual(remaining(of('appended', 'a', 3), of('appended', 'a', 2)), [
      of('appended', 'a', 3),
    ]);
    const pending = new PendingNotices();
    pending.push(of('appended', 'a', 3));
    drain(pending);
    for (const late of [of('created', 'a', 1), of('appended', 'a', 3), deleted('a', 2)]) {
      pending.push(late);
    }
    assert.deepEqual(drain(pending), []);
  });

  it('ask for a resync after a forged revision, and continue with the next notices', () => {
    const forged = Number.MAX_SAFE_INTEGER;
    for (const wrong of [of('appended', 'a', forged), userDeleted(forged)]) {
      assert.deepEqual(remaining(wrong, of('appended', 'a', 3), of('appended', 'a', 4)), [
        { type: 'resync' },
        of('appended', 'a', 4),
      ]);
    }
  });

  it('drop all earlier notices at a loss, and then start again at revision 1', () => {
    const loss = { type: 'lost', when: 1, message: 'gone' } as const;
    const pending = new PendingNotices();
    for (const notice of [of('appended', 'a', 9), loss, of('created', 'a', 1)])
      pending.push(notice);
    assert.deepEqual(drain(pending), [loss, of('created', 'a', 1)]);
    pending.push(loss);
    pending.push({ type: 'resync' });
    assert.deepEqual(drain(pending), [loss, { type: 'resync' }]);
  });

  it('keep the type created until the notice is delivered', () => {
    assert.deepEqual(remaining(of('created', 'a', 1), of('appended', 'a', 2)), [
      of('created', 'a', 2),
    ]);
  });

  it('prefer a deletion to the changes that it deleted, even with the same revision, and report it once', () => {
    const notices = [
      of('created', 'a', 1),
      deleted('a', 1),
      of('created', 'a', 1),
      deleted('a', 1),
    ];
    assert.deepEqual(remaining(...notices), [deleted('a', 1)]);
    const pending = new PendingNotices();
    pending.push(deleted('a', 4));
    drain(pending);
    for (const late of [deleted('a', 4), of('appended', 'a', 4)]) pending.push(late);
    assert.deepEqual(drain(pending), []);
  });

  it('deliver the notice of a session that was created again', () => {
    const notices = [deleted('a', 4), of('created', 'a', 5)];
    assert.deepEqual(remaining(...notices), [of('created', 'a', 5)]);
    const pending = new PendingNotices();
    for (const notice of notices) {
      pending.push(notice);
      assert.deepEqual(drain(pending), [notice]);
    }
  });

  it('treat a deletion without a revision as the newest notice', () => {
    assert.deepEqual(remaining(of('appended', 'a', 3), deleted('a')), [deleted('a')]);
    assert.deepEqual(remaining(deleted('a'), of('created', 'a', 9)), [of('created', 'a', 9)]);
    assert.deepEqual(remaining(of('appended', 'a', 3), userDeleted()), [userDeleted()]);
  });

  it('drop the notices of a deleted user, and deliver newer ones after the deletion', () => {
    const notices = [of('appended', 'a', 3), of('created', 'b', 6), userDeleted(5)];
    assert.deepEqual(remaining(...notices), [userDeleted(5), of('created', 'b', 6)]);
    assert.deepEqual(remaining(userDeleted(5), of('appended', 'c', 5)), [userDeleted(5)]);
  });

  it('keep sessions apart whose ids contain separator characters', () => {
    const others = ['["', '"],["', 'user","a', ''].map((text) => of('appended', `a${text}`, 1));
    assert.equal(remaining(...others).length, others.length);
  });

  it('keep one notice of the shared states, with all that changed', () => {
    assert.deepEqual(remaining(state('user'), state('app'), state('user')), [
      state('user'),
      state('app'),
    ]);
    assert.deepEqual(remaining(state('user'), state('user', 'app')), [state('user', 'app')]);
  });

  it('keep the scopes of the notices that a newer one of the session replaces', () => {
    const notices = [of('created', 'a', 1, 'app'), of('appended', 'a', 2), of('appended', 'a', 3, 'user')]; // prettier-ignore
    assert.deepEqual(remaining(...notices), [of('created', 'a', 3, 'user', 'app')]);
  });

  it('report the shared states of notices that are dropped', () => {
    const [older, newer] = [of('appended', 'a', 2, 'user', 'app'), of('appended', 'a', 3)];
    assert.deepEqual(remaining(newer, older), [newer, state('user', 'app')]);
    assert.deepEqual(remaining(older, deleted('a', 2)), [deleted('a', 2), state('user', 'app')]);
    assert.deepEqual(remaining(deleted('a', 2), older), [deleted('a', 2), state('user', 'app')]);
    for (const notices of [
      [older, userDeleted(2)],
      [userDeleted(2), older],
    ]) {
      assert.deepEqual(remaining(...notices), [userDeleted(2), state('user', 'app')]);
    }
  });

  it('drop everything at a resync, since the database may be another one', () => {
    const pending = new PendingNotices();
    pending.push(of('appended', 'a', 30));
    pending.push({ type: 'resync' });
    pending.push({ type: 'resync' });
    pending.push(of('created', 'a', 1));
    assert.deepEqual(drain(pending), [{ type: 'resync' }, of('created', 'a', 1)]);
  });

  it('remember a limited number of sessions', () => {
    const pending = new PendingNotices();
    for (let number = 0; number < 9_000; number += 1) pending.push(of('appended', `s${number}`, 9));
    drain(pending);
    pending.push(of('appended', 's0', 8));
    assert.equal(pending.isEmpty, true);
    for (let number = 0; number < 30_000; number += 1) {
      pending.push(of('appended', `t${number}`, 9));
      pending.shift();
    }
    pending.push(of('appended', 's0', 8));
    assert.deepEqual(drain(pending), [of('appended', 's0', 8)]);
  });
});

// A model of a storage with its revisions, and the notices that it publishes.

type Step =
  | { readonly do: 'write' | 'delete'; readonly user: number; readonly session: number }
  | { readonly do: 'delete user'; readonly user: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('write' as const, 'write' as const, 'delete' as const),
      user: fc.nat(1),
      session: fc.nat(2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('delete user' as const), user: fc.nat(1) }),
  },
);

/** Existing sessions with their revisions. */
type Sessions = Map<string, number>;
const nameOf = (userId: string, sessionId: string): string => `${userId}/${sessionId}`;

function applySteps(steps: readonly Step[]): { notices: ChangeNotice[]; sessions: Sessions } {
  const sessions: Sessions = new Map();
  const notices: ChangeNotice[] = [];
  let floor = 0;
  const forget = (name: string): void => {
    floor = Math.max(floor, sessions.get(name) ?? 0);
    sessions.delete(name);
  };
  for (const step of steps) {
    const user = { appName: 'app', userId: `u${step.user}` };
    if (step.do === 'delete user') {
      for (const name of [...sessions.keys()]) if (name.startsWith(user.userId)) forget(name);
      notices.push({ type: 'deleted', ...user, revision: floor });
      continue;
    }
    const sessionId = `s${step.session}`;
    const name = nameOf(user.userId, sessionId);
    const before = sessions.get(name);
    if (step.do === 'delete') {
      forget(name);
      notices.push({ type: 'deleted', ...user, sessionId, revision: floor });
      continue;
    }
    const revision = Math.max(before ?? 0, floor) + 1;
    sessions.set(name, revision);
    notices.push({
      type: before === undefined ? 'created' : 'appended',
      ...user,
      sessionId,
      revision,
      scopes: [],
    });
  }
  return { notices, sessions };
}

/** Pushes notices in order. Takes one notice after the pushes that `takes` marks, and all notices at the end. */
function pass(notices: readonly ChangeNotice[], takes: readonly boolean[]): Notice[] {
  const pending = new PendingNotices();
  const taken: Notice[] = [];
  notices.forEach((notice, number) => {
    pending.push(notice);
    const next = takes[number % takes.length] === true ? pending.shift() : undefined;
    if (next !== undefined) taken.push(next);
  });
  const rest = drain(pending);
  assert.ok(rest.length <= 6 + 2, 'more than one is pending for a session');
  return [...taken, ...rest];
}

/** The sessions that exist according to the received notices. */
function watchedState(notices: readonly Notice[]): Sessions {
  const sessions: Sessions = new Map();
  for (const notice of notices) {
    if (!('userId' in notice) || notice.type === 'stateChanged') continue;
    if (notice.type === 'updated') continue;
    const { userId, sessionId, revision = Infinity } = notice;
    if (sessionId === undefined) {
      for (const [name, last] of sessions) {
        if (name.startsWith(userId) && last <= revision) sessions.delete(name);
      }
    } else if (notice.type === 'deleted') sessions.delete(nameOf(userId, sessionId));
    else sessions.set(nameOf(userId, sessionId), revision);
  }
  return sessions;
}

function assertGrowing(notices: readonly Notice[]): void {
  const places = new Map<string, number>();
  for (const notice of notices) {
    if (!('userId' in notice) || notice.type === 'stateChanged') continue;
    if (notice.type === 'updated') continue;
    const { userId, sessionId = '', revision = NaN } = notice;
    const name = nameOf(userId, sessionId);
    const place = revision + (notice.type === 'deleted' ? 0.5 : 0);
    assert.ok(place > (places.get(name) ?? -1), `${name} fell back to ${place}`);
    places.set(name, place);
  }
}

const byName = (sessions: Sessions): [string, number][] => [...sessions].sort();

describe('Pending notices of random changes', () => {
  const takes = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });
  const steps = fc.array(step, { maxLength: 40 });

  it('have growing revisions for each session, and end with its last state, in commit order', () => {
    const property = fc.property(steps, takes, (steps, takes) => {
      const { notices, sessions } = applySteps(steps);
      const told = pass(notices, takes);
      assertGrowing(told);
      assert.deepEqual(byName(watchedState(told)), byName(sessions));
    });
    fc.assert(property, cases());
  });

  it('do the same in any order of arrival, with duplicates', () => {
    const keys = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });
    const property = fc.property(steps, takes, keys, (steps, takes, keys) => {
      const { notices, sessions } = applySteps(steps);
      const twice = notices.flatMap((notice, at) => (keys[at % keys.length]! % 3 === 0 ? [notice, notice] : [notice])); // prettier-ignore
      const late = twice.map((notice, at) => ({ notice, at: at + (keys[at % keys.length]! % 9) }));
      late.sort((one, other) => one.at - other.at);
      const told = pass(
        late.map(({ notice }) => notice),
        takes,
      );
      assertGrowing(told);
      assert.deepEqual(byName(watchedState(told)), byName(sessions));
    });
    fc.assert(property, cases());
  });
});
