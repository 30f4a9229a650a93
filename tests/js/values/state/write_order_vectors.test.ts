import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { State } from '../../../../js/values/state/state.js';
import {
  hasNewerWrite,
  isSuperseded,
  markStored,
  snapshotOrder,
} from '../../../../js/values/state/write_order.js';

type Values = Record<string, unknown>;
interface Step {
  context?: string;
  set?: Values;
  append?: string | Values;
  commit?: number;
}
interface Vector {
  name: string;
  steps: Step[];
  live: Values;
  deltas: Values[];
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/write_order.json', import.meta.url), 'utf8'),
) as Vector[];
const apply = (state: Values, key: string, value: unknown): void => {
  if (value === State.REMOVED) delete state[key];
  else state[key] = value;
};

describe('The shared vectors of the order of writes', () => {
  for (const { name, steps, live, deltas } of vectors) {
    it(name, () => {
      const value: Values = {};
      const open: Record<string, Values> = {};
      const waiting: (() => void)[] = [];
      const stored: Values[] = [];
      for (const { context, set, append, commit } of steps) {
        if (context !== undefined) new State(value, (open[context] ??= {})).update(set ?? {});
        if (append !== undefined) {
          const delta = typeof append === 'string' ? (open[append] ?? {}) : append;
          if (typeof append === 'string') delete open[append];
          const [order, taken] = [snapshotOrder(delta), { ...delta }];
          waiting.push(() => {
            const kept = Object.entries(taken).filter(([key]) => !isSuperseded(value, order, key));
            stored.push(Object.fromEntries(kept));
            for (const [key, entry] of kept)
              if (!hasNewerWrite(value, order, key)) apply(value, key, entry);
            markStored(value, order, Object.keys(taken));
          });
        }
        for (let n = 0; n < (commit ?? 0); n++) waiting.shift()?.();
      }
      assert.deepEqual(value, live);
      assert.deepEqual(stored, deltas);
    });
  }
});
