import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import type { StateShape } from '../../../../js/values/state/state_shape.js';
import { State } from '../../../../js/values/state/state.js';
import {
  carryStamps,
  dropStamp,
  hasNewerWrite,
  isStamped,
  isSuperseded,
  markStored,
  stampWrite,
  snapshotOrder,
  type WriteOrder,
} from '../../../../js/values/state/write_order.js';
import { cases } from '../../../properties.js';

/** The steps of a session service on one handle, without anything else. */
class Handle {
  readonly value: StateShape = {};
  /** In the order of the commits. */
  readonly storedDeltas: StateShape[] = [];

  /** Called when an event is appended; what it returns, when the event's turn has come. */
  append(delta: StateShape): () => void {
    const order = snapshotOrder(delta);
    const taken = { ...delta };
    return () => this.commit([{ order, delta: taken }]);
  }

  /** The events of one `appendEvents`. */
  commit(events: { order: WriteOrder; delta: StateShape }[]): void {
    const ahead = new Map<string, WriteOrder>();
    const stored = events.map(({ order, delta }) => {
      const isKept = ([key]: [string, unknown]): boolean =>
        !isSuperseded(this.value, order, key, ahead.get(key));
      const kept = Object.entries(delta).filter(isKept);
      for (const [key] of kept) ahead.set(key, order);
      return kept;
    });
    events.forEach(({ order }, index) => {
      this.storedDeltas.push(Object.fromEntries(stored[index] ?? []));
      for (const [key, value] of stored[index] ?? []) {
        if (!hasNewerWrite(this.value, order, key)) apply(this.value, key, value);
      }
      markStored(this.value, order, Object.keys(this.storedDeltas.at(-1)!));
    });
  }

  get stored(): StateShape {
    const state: StateShape = {};
    for (const delta of this.storedDeltas) {
      for (const [key, value] of Object.entries(delta)) apply(state, key, value);
    }
    return state;
  }
}

function apply(state: StateShape, key: string, value: unknown): void {
  if (value === State.REMOVED) delete state[key];
  else state[key] = value;
}

interface Step {
  context?: string;
  set?: StateShape;
  append?: string | StateShape;
  commit?: number;
}
interface Vector {
  name: string;
  steps: Step[];
  live: StateShape;
  deltas: StateShape[];
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/write_order.json', import.meta.url), 'utf8'),
) as Vector[];

describe('The order of writes', () => {
  for (const { name, steps, live, deltas } of vectors) {
    it(`is that of the shared vectors: ${name}`, () => {
      const handle = new Handle();
      const open: Record<string, StateShape> = {};
      const waiting: (() => void)[] = [];
      for (const { context, set, append, commit = 0 } of steps) {
        if (context !== undefined)
          new State(handle.value, (open[context] ??= {})).update(set ?? {});
        if (append !== undefined) {
          const isContext = typeof append === 'string';
          waiting.push(handle.append(isContext ? (open[append] ?? {}) : append));
          if (isContext) delete open[append];
        }
        for (const commitNext of waiting.splice(0, commit)) commitNext();
      }
      assert.deepEqual([handle.value, handle.storedDeltas], [live, deltas]);
    });
  }

  it('treats a committed hand-made delta as newer than earlier writes', () => {
    const value = {};
    const delta = {};
    stampWrite(value, delta, 'temp:k');
    markStored(value, snapshotOrder({}), ['temp:k']);
    assert.equal(hasNewerWrite(value, snapshotOrder(delta), 'temp:k'), true);
  });

  it('is that of the call, whatever is added to the delta while its event waits', () => {
    const handle = new Handle();
    const [a, b] = [{}, {}];
    const state = new State(handle.value, a);
    state.set('k', 1);
    const commit = handle.append(a);
    new State(handle.value, b).set('k', 2);
    state.set('k', 3);
    commit();
    handle.append(b)();
    assert.deepEqual(handle.stored, { k: 2 });
    handle.append(a)();
    assert.deepEqual([handle.value, handle.stored], [{ k: 3 }, { k: 3 }]);
  });

  it('is separate for each state object', () => {
    const [one, two] = [new Handle(), new Handle()];
    const [a, b] = [{}, {}];
    new State(one.value, a).set('k', 1);
    new State(two.value, b).set('k', 2);
    two.append(b)();
    one.append(a)();
    assert.deepEqual([one.stored, two.stored], [{ k: 1 }, { k: 2 }]);
  });

  it('is kept by a copy of a delta', () => {
    const value = {};
    const delta: StateShape = {};
    stampWrite(value, delta, 'k');
    delta.k = 1;
    const copy = { ...delta, other: 2 };
    carryStamps(delta, copy);
    stampWrite(value, {}, 'k');
    assert.deepEqual([isStamped(copy, 'k'), isStamped(copy, 'other')], [true, false]);
    assert.equal(hasNewerWrite(value, snapshotOrder(copy), 'k'), true);
    dropStamp(copy, 'k');
    assert.equal(hasNewerWrite(value, snapshotOrder(copy), 'k'), false);
  });

  const keys = ['a', 'b', 'user:c'] as const;
  const step = fc.oneof(
    fc.record({
      kind: fc.constantFrom('write' as const, 'remove' as const, 'by hand' as const),
      context: fc.nat(2),
      key: fc.constantFrom(...keys),
    }),
    fc.record({
      kind: fc.constantFrom('append' as const, 'commit' as const),
      context: fc.nat(2),
      key: fc.constant('a' as const),
    }),
  );

  it('lets the last write win, on the handle and in the store, in any interleaving', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const handle = new Handle();
        let deltas: StateShape[] = [{}, {}, {}];
        const queue: { commit: () => void; writes: Map<string, number> }[] = [];
        /** Per delta that is not appended yet: key → number of its write. */
        let open = deltas.map(() => new Map<string, number>());
        const values = new Map<number, unknown>();
        const last = new Map<string, number>();
        const lastStored = new Map<string, number>();

        const commitOne = (): void => {
          const next = queue.shift();
          if (next === undefined) return;
          next.commit();
          for (const [key, write] of next.writes) {
            lastStored.set(key, Math.max(write, lastStored.get(key) ?? -1));
          }
        };
        steps.forEach(({ kind, context, key }, number) => {
          const delta = deltas[context] ?? {};
          if (kind === 'write' || kind === 'remove') {
            const state = new State(handle.value, delta);
            if (kind === 'write') state.set(key, number);
            else state.delete(key);
            values.set(number, kind === 'write' ? number : State.REMOVED);
            open[context]?.set(key, number);
            last.set(key, number);
          } else if (kind === 'by hand') {
            values.set(number, number);
            queue.push({
              commit: handle.append({ [key]: number }),
              writes: new Map([[key, number]]),
            });
            last.set(key, number);
          } else if (kind === 'append') {
            queue.push({
              commit: handle.append(delta),
              writes: open[context] ?? new Map<string, number>(),
            });
            deltas = deltas.with(context, {});
            open = open.with(context, new Map());
          } else {
            commitOne();
          }
        });
        while (queue.length > 0) commitOne();

        const expected = (writes: Map<string, number>): StateShape => {
          const state: StateShape = {};
          for (const [key, write] of writes) apply(state, key, values.get(write));
          return state;
        };
        assert.deepEqual(handle.value, expected(last));
        assert.deepEqual(handle.stored, expected(lastStored));
      }),
      cases(),
    );
  });
});
