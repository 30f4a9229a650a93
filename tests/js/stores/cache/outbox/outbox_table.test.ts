// The pure machine of the outbox: what becomes of the mutations of a session when something happens.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Mutation } from '../../../../../js/stores/cache/outbox/mutation.js';
import { sendableOf } from '../../../../../js/stores/cache/outbox/refusals.js';
import {
  acknowledged,
  after,
  append,
  appendShared,
  ask,
  COPIED,
  create,
  DELETION,
  describeSession,
  FORBIDDEN,
  LOCAL_ID,
  NOT_FOUND,
  NOTHING_SEEN,
  refused,
  rewind,
  sent,
  shown,
} from './mutations.js';

const drop = (...numbers: number[]) => ({ type: 'dropped', numbers, shortened: [] }) as const;
const give = (messageId: string) => ({ type: 'givenUp', messageId, isCancelled: false }) as const;

describe('A mutation', () => {
  it('is fresh, sent, acknowledged, and leaves when the copy has its revision', () => {
    const claimed = { type: 'claimed', numbers: [2], attempts: 1 } as const;
    const stored = { type: 'stored', numbers: [2], at: 12 } as const;
    const copied = { type: 'copied', localId: LOCAL_ID, revision: 12 } as const;
    const outbox = [append(2, 'e1')];
    assert.deepEqual(shown(after(outbox, [])), ['append e1 fresh']);
    assert.deepEqual(shown(after(outbox, [claimed])), ['append e1 sent']);
    assert.deepEqual(shown(after(outbox, [claimed, stored])), ['append e1 acknowledged']);
    assert.deepEqual(shown(after(outbox, [claimed, stored, { ...copied, revision: 11 }])), [
      'append e1 acknowledged',
    ]);
    assert.deepEqual(shown(after(outbox, [claimed, stored, copied])), []);
  });

  it('that writes no event leaves when it is stored', () => {
    const titled = { ...describeSession(2, 'Tea'), ...sent() };
    assert.deepEqual(shown(after([titled], [{ type: 'stored', numbers: [2], at: 12 }])), []);
  });

  it('is fresh again if the remote has stored nothing of it', () => {
    const outbox = [append(2, 'e1', sent(2))];
    const held = { type: 'heldByRun', numbers: [2] } as const;
    assert.deepEqual(after(outbox, [{ ...held, attempts: 2 }]).outbox[0]?.phase, sent(1).phase);
    assert.deepEqual(shown(after(outbox, [{ type: 'unstored', numbers: [2] }])), [
      'append e1 fresh',
    ]);
    // The answer to an earlier attempt is late.
    assert.deepEqual(after(outbox, [{ ...held, attempts: 1 }]).outbox[0]?.phase, sent(2).phase);
  });

  it('that is refused is sent again behind all others, with what it blocks, and under new numbers', () => {
    const later = append(3, 'e1', { replaces: { mutation: 2 } });
    const outbox = [append(2, 'e1', refused()), later, append(4, 'e2')];
    const { outbox: retried } = after(outbox, [{ type: 'retried', numbers: [2] }]);
    assert.deepEqual(shown({ outbox: retried }), [
      'append e2 fresh',
      'append e1 fresh',
      'append e1 fresh',
    ]);
    const [, first, second] = retried;
    assert.ok(first!.number > 100 && second!.number > first!.number);
    assert.deepEqual(second!.replaces, { mutation: first!.number });
  });

  it('that is refused replaces whichever version is there when it is sent again', () => {
    const replacesOf = (replaces: Mutation['replaces']) =>
      after(
        [append(2, 'e1', { ...refused(), replaces, since: 5 })],
        [{ type: 'retried', numbers: [2] }],
      ).outbox[0];
    assert.equal(replacesOf({ revision: 7 })?.replaces, 'anything');
    assert.equal(replacesOf({ atMost: 7 })?.replaces, 'anything');
    assert.equal(replacesOf('nothing')?.replaces, 'nothing');
    assert.equal(replacesOf('nothing')?.since, undefined);
  });

  it('is sent again with the version at the remote if it may replace that, and otherwise refused', () => {
    const outcome = (replaces: Mutation['replaces'], actual: number | null) => {
      const happening = { type: 'refused', number: 2, refusal: FORBIDDEN, actual } as const;
      const [mutation] = after([append(2, 'e1', { ...sent(), replaces })], [happening]).outbox;
      return mutation?.phase.is === 'refused' ? 'refused' : mutation?.replaces;
    };
    assert.deepEqual(outcome('nothing', 7), { revision: 7 });
    assert.deepEqual(outcome('anything', 7), { revision: 7 });
    assert.deepEqual(outcome({ atMost: 7 }, 7), { revision: 7 });
    assert.equal(outcome({ atMost: 7 }, 8), 'refused');
    assert.equal(outcome({ revision: 7 }, 8), 'refused');
    assert.equal(outcome('nothing', null), 'refused');
    const late = { type: 'refused', number: 2, refusal: FORBIDDEN, actual: null } as const;
    assert.deepEqual(shown(after([append(2, 'e1')], [late])), ['append e1 fresh']);
  });

  it('that was to replace a stored event replaces its revision', () => {
    const outbox = [append(2, 'e1', sent()), append(3, 'e1', { replaces: { mutation: 2 } })];
    const replacesOf = (seen = COPIED, revisions?: ReadonlyMap<string, number>) =>
      after(outbox, [{ type: 'stored', numbers: [2], revisions }], seen).outbox[0]?.replaces;
    const inCopy = (isExact: boolean) => new Map([['e1', { revision: 9, isExact }]]);
    assert.deepEqual(replacesOf(COPIED, new Map([['e1', 12]])), { revision: 12 });
    assert.deepEqual(replacesOf({ ...COPIED, revisions: inCopy(true) }), { revision: 9 });
    assert.deepEqual(replacesOf({ ...COPIED, revisions: inCopy(false) }), { atMost: 9 });
    assert.deepEqual(replacesOf(), { atMost: 10 });
    assert.deepEqual(replacesOf(NOTHING_SEEN), 'nothing');
  });

  it('that was to replace an acknowledged event replaces its revision when the copy has it', () => {
    const copied = { type: 'copied', localId: LOCAL_ID, revision: 12 } as const;
    const first = append(2, 'e1', acknowledged(12));
    const outbox = [first, append(3, 'e1', { replaces: { mutation: 2 } })];
    const seen = { ...COPIED, revisions: new Map([['e1', { revision: 12, isExact: true }]]) };
    assert.deepEqual(after(outbox, [copied], seen).outbox[0]?.replaces, { revision: 12 });
  });

  it('that was to replace a dropped event replaces what that was to replace', () => {
    const first = append(2, 'e1', { replaces: { revision: 7 } });
    const outbox = [first, append(3, 'e1', { replaces: { mutation: 2 } })];
    assert.deepEqual(after(outbox, [drop(2)]).outbox[0]?.replaces, { revision: 7 });
  });

  it('loses the values of shared keys that a later one has written', () => {
    const outbox = [appendShared(2, 'e1', 'theme'), appendShared(3, 'e2', 'name')];
    const write = { number: 9, isCleared: false, values: [['theme', 'dark']] } as const;
    const happening = { type: 'stripped', scope: 'user', writes: [write] } as const;
    const { outbox: rest } = after(outbox, [happening]);
    assert.deepEqual(
      rest.map(({ shared }) => shared.user?.values),
      [undefined, [['name', 3]]],
    );
    assert.ok(!JSON.stringify(rest[0]!.write).includes('theme'));
    const earlier = { ...happening, writes: [{ ...write, number: 1 }] };
    assert.deepEqual(after(outbox, [earlier]).outbox, outbox);
  });
});

describe('A creation', () => {
  it('that another device was faster with becomes appends behind all that the remote has seen', () => {
    const { write } = create(1);
    const { events } = append(9, 'e0').write;
    const made = create(1, {
      ...sent(),
      write: { ...write, events },
      numbers: [{ seq: 1, localVersion: 1 }],
    });
    const outbox = [made, append(2, 'e0', { replaces: { mutation: 1 } })];
    const existed = { type: 'existed', number: 1 } as const;
    assert.equal(after(outbox, [existed]).outbox[0]?.creation, 'exists');
    const { outbox: merged } = after(outbox, [existed, { type: 'merged', number: 1 }]);
    assert.deepEqual(shown({ outbox: merged }), ['append e0 fresh', 'append e0 fresh']);
    const [first, second] = merged;
    assert.deepEqual(second?.replaces, { mutation: first!.number });
  });

  const provisional = create(1, { creation: 'provisional', ...sent() });
  const absent = { type: 'absent', number: 1, refusal: NOT_FOUND } as const;
  const allowed = { type: 'allowed', number: 1, write: provisional.write, shared: {} } as const;

  it('of a provisional session leaves if the remote does not have it, with the copy if nothing is left', () => {
    const { outbox, effects } = after([provisional], [absent], NOTHING_SEEN);
    assert.deepEqual([outbox, effects], [[], ['copy leaves']]);
  });

  it('of a provisional session is refused if a mutation needs the session, and blocks it', () => {
    const demanding = append(2, 'e1', { needsSession: true });
    const { outbox } = after([provisional, demanding], [absent], NOTHING_SEEN);
    assert.deepEqual(shown({ outbox }), ['create refused not_found', 'append e1 fresh']);
  });

  it('that became allowed is made, without the mutations that need the session', () => {
    const demanding = append(2, 'e1', { needsSession: true });
    const happenings = [allowed, absent] as const;
    const outbox = [provisional, demanding, append(3, 'e2')];
    const made = after(outbox, happenings, NOTHING_SEEN);
    assert.deepEqual(shown(made), ['create fresh', 'append e2 fresh']);
    assert.equal(made.outbox[0]?.creation, 'new');
    assert.deepEqual(made.effects, ['shown otherwise']);
  });

  it('is sent again in its place', () => {
    const outbox = [create(1, refused()), append(2, 'e1')];
    const { outbox: rest } = after(outbox, [{ type: 'retried', numbers: [1] }]);
    assert.deepEqual(shown({ outbox: rest }), ['create fresh', 'append e1 fresh']);
    assert.deepEqual(
      rest.map(({ number }) => number),
      [1, 2],
    );
  });
});

describe('A session that the remote has deleted', () => {
  const gone = { type: 'gone', localId: LOCAL_ID, refusal: NOT_FOUND } as const;

  it('refuses the first mutation that waits, and nothing more', () => {
    const outbox = [append(2, 'e1', acknowledged(12)), append(3, 'e2', sent()), append(4, 'e3')];
    assert.deepEqual(shown(after(outbox, [gone])), [
      'append e2 refused not_found',
      'append e3 fresh',
    ]);
    assert.deepEqual(after(outbox, [gone, gone]).outbox, after(outbox, [gone]).outbox);
  });

  it('leaves with its last mutation if all were acknowledged', () => {
    const { outbox, effects } = after([append(2, 'e1', acknowledged(12))], [gone]);
    assert.deepEqual([outbox, effects], [[], ['copy leaves']]);
  });

  it('waits for the answer to a deletion', () => {
    const deletion = {
      type: 'deleted',
      localId: LOCAL_ID,
      mayBeRemote: true,
      write: DELETION,
    } as const;
    assert.deepEqual(shown(after([], [deletion, gone])), ['delete fresh']);
  });
});

describe('Mutations that are dropped', () => {
  it('take the copy along if the last one was refused because the session is gone', () => {
    const { effects } = after([append(2, 'e1', refused(NOT_FOUND))], [drop(2)]);
    assert.deepEqual(effects, ['copy leaves']);
  });

  it('leave the copy if the last one was refused otherwise', () => {
    assert.deepEqual(after([append(2, 'e1', refused())], [drop(2)]).effects, []);
  });

  it('take the record along if the session was never at the remote', () => {
    const { effects } = after([append(2, 'e1')], [drop(2)], NOTHING_SEEN);
    assert.deepEqual(effects, ['copy leaves']);
  });

  it('take a refused provisional creation along if nothing else is left', () => {
    const creation = create(1, { creation: 'provisional', ...refused(NOT_FOUND) });
    const outbox = [creation, append(2, 'e1', { needsSession: true })];
    assert.deepEqual(shown(after(outbox, [drop(2)], NOTHING_SEEN)), []);
  });

  it('leave a refused provisional creation while something else waits for it', () => {
    const creation = create(1, { creation: 'provisional', ...refused(NOT_FOUND) });
    const outbox = [creation, append(2, 'e1', { needsSession: true }), append(3, 'e2')];
    assert.deepEqual(shown(after(outbox, [drop(2)], NOTHING_SEEN)), [
      'create refused not_found',
      'append e2 fresh',
    ]);
  });

  it('leave a provisional creation that waits for its answer', () => {
    const creation = create(1, { creation: 'provisional', ...sent() });
    const { outbox, effects } = after([creation, append(2, 'e1')], [drop(2)], NOTHING_SEEN);
    assert.deepEqual([shown({ outbox }), effects], [['create sent'], []]);
  });

  it('move what waited for them behind what was sent meanwhile', () => {
    const later = append(3, 'e1', { replaces: { mutation: 2 } });
    const outbox = [append(2, 'e1', refused()), later, append(4, 'e2')];
    assert.deepEqual(shown(after(outbox, [drop(2)])), ['append e2 fresh', 'append e1 fresh']);
  });
});

describe('A message that is given up', () => {
  it('leaves, and what may have arrived is cancelled in its place', () => {
    const outbox = [append(2, 'e1', sent()), ask(3, 'm1', sent()), append(4, 'e2')];
    const { outbox: rest } = after(outbox, [give('m1')]);
    assert.deepEqual(shown({ outbox: rest }), [
      'append e1 sent',
      'cancel fresh',
      'append e2 fresh',
    ]);
    const numbers = rest.map(({ number }) => number);
    assert.deepEqual(
      numbers,
      [...numbers].sort((one, other) => one - other),
    );
    assert.deepEqual(shown(after([ask(3, 'm1')], [give('m1')])), []);
    // What is behind gets another number, so that it was never sent.
    const { outbox: moved } = after([ask(2, 'm1', sent()), append(3, 'e2', sent())], [give('m1')]);
    assert.deepEqual(shown({ outbox: moved }), ['cancel fresh', 'append e2 fresh']);
    const cancelled = { ...give('m1'), isCancelled: true };
    assert.deepEqual(shown(after([ask(3, 'm1', sent())], [cancelled])), []);
  });

  it('is cancelled, whatever else is refused, and also before its session is deleted', () => {
    const { outbox } = after([create(1, refused()), ask(2, 'm1', sent())], [give('m1')]);
    assert.deepEqual(shown({ outbox: sendableOf(outbox) }), ['cancel fresh']);
    const deletion = { type: 'deleted', localId: LOCAL_ID, mayBeRemote: true } as const;
    const happenings = [give('m1'), { ...deletion, write: DELETION }] as const;
    assert.deepEqual(shown(after([ask(2, 'm1', sent())], happenings)), [
      'cancel fresh',
      'delete fresh',
    ]);
  });

  it('takes its edits, their edits and the undoing of these along', () => {
    const edit = rewind(3, { turn: 'm1' }, 'm2');
    const editOfEdit = rewind(4, { turn: 'm2' }, 'm3');
    const undo = rewind(5, { undo: editOfEdit.write.marker.invocationId });
    const outbox = [ask(2, 'm1'), edit, editOfEdit, undo, ask(6, 'm4')];
    assert.deepEqual(shown(after(outbox, [give('m1')])), ['append m4 fresh']);
    // The rewind of the second edit is undone, and the message before it stays.
    assert.deepEqual(shown(after(outbox, [give('m3')])), [
      'append m1 fresh',
      'rewind marker-3 m2 fresh',
      'append m4 fresh',
    ]);
  });

  it('takes later versions of itself, and rewinds to its invocation along', () => {
    const edited = append(3, 'm1', { replaces: { mutation: 2 } });
    const before = rewind(4, { before: { invocationId: 'i-m1' } });
    const other = rewind(5, { before: { eventId: 'e0' } });
    const outbox = [ask(2, 'm1'), edited, before, other];
    assert.deepEqual(shown(after(outbox, [give('m1')])), ['rewind marker-5 fresh']);
  });
});

describe('A session that is deleted', () => {
  const deletion = { type: 'deleted', localId: LOCAL_ID, write: DELETION } as const;

  it('sends what was sent before, what writes shared keys, and the creation of these', () => {
    const outbox = [
      create(1),
      append(2, 'e1', sent()),
      append(3, 'e2'),
      appendShared(4, 'e3', 'theme'),
      append(5, 'e4', refused()),
    ];
    assert.deepEqual(shown(after(outbox, [{ ...deletion, mayBeRemote: true }])), [
      'create fresh',
      'append e1 sent',
      'append e3 fresh',
      'delete fresh',
    ]);
  });

  it('sends no deletion if the remote has never heard of it', () => {
    const outbox = [create(1), append(2, 'e1')];
    const { outbox: rest, effects } = after(
      outbox,
      [{ ...deletion, mayBeRemote: false }],
      NOTHING_SEEN,
    );
    assert.deepEqual([rest, effects], [[], ['record leaves']]);
  });

  it('is shown again if the remote has kept it', () => {
    const outbox = after([], [{ ...deletion, mayBeRemote: true }]).outbox;
    const numbers = outbox.map(({ number }) => number);
    const claimed = { type: 'claimed', numbers, attempts: 1 } as const;
    const { effects } = after(outbox, [claimed, { type: 'keptByRemote', numbers }]);
    assert.deepEqual(effects, ['shown again']);
  });
});
