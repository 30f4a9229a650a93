// The cost of the option `mirror`: the same appends with and without it, in turns.

import { median, shown, timeOf, timesInTurns } from '../measure.mjs';
import { numbers } from './appends.mjs';
import { Ours } from './stores/ours.mjs';
import { eventsNow, filled, withStores } from './stores/stores.mjs';

const [STORED, APPENDS, MANY] = [1000, 20, 64];

class Mirrored extends Ours {
  /** @param {string} name @param {{ appName: string, userId: string }} user */
  static async open(name, user) {
    return new Mirrored(name, user, { mirror: true });
  }
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export function mirrored() {
  return withStores({ plain: Ours, mirrored: Mirrored }, async ({ plain, mirrored }) => {
    const plainHandle = await filled(plain, 'session', STORED);
    const mirroredHandle = await filled(mirrored, 'session', STORED);
    const next = numbers(STORED);
    /** @param {Ours} store @param {any} handle */
    const oneByOne = async (store, handle) => {
      const times = [];
      for (const event of eventsNow(APPENDS, next(APPENDS))) {
        times.push(await timeOf(() => store.append(handle, event)));
      }
      return times;
    };
    /** @param {Ours} store @param {any} handle */
    const atOnce = (store, handle) => {
      const events = eventsNow(MANY, next(MANY));
      return timeOf(() => Promise.all(events.map((event) => store.append(handle, event))));
    };
    const single = await timesInTurns(
      {
        plain: () => oneByOne(plain, plainHandle),
        mirrored: () => oneByOne(mirrored, mirroredHandle),
      },
      { rounds: 40, warmUp: 4 },
    );
    const group = await timesInTurns(
      {
        plain: () => atOnce(plain, plainHandle),
        mirrored: () => atOnce(mirrored, mirroredHandle),
      },
      { rounds: 25, warmUp: 3 },
    );
    const of = (/** @type {Record<string, number[]>} */ times) => {
      return { ours: median(times.mirrored ?? []), peer: median(times.plain ?? []) };
    };
    return [
      shown({ case: 'append after append, with a mirror and without', ...of(single), unit: 'ms' }),
      shown({
        case: `${MANY} appends at once, with a mirror and without`,
        ...of(group),
        unit: 'ms for all',
      }),
    ];
  });
}
