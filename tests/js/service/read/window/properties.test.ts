import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type Event, InMemorySessionService } from '../../../../../js/index.js';
import { KEY, stored } from '../../fixture.js';
import { asks, tells, calls, answers, holding } from './turns.js';

/** The same numbers for the same seed: mulberry32. */
function randomOf(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  };
}

/** Turns with function calls that get a response immediately, later, or never. */
function randomHistory(random: (below: number) => number): Event[] {
  const open: string[] = [];
  return Array.from({ length: random(120) }, (_, number) => {
    const id = `e${number}`;
    const answered = open[random(open.length * 3 || 1)];
    if (answered !== undefined && random(2) === 0) {
      // Some calls get several responses.
      if (random(4) > 0) open.splice(open.indexOf(answered), 1);
      return answers(id, answered, random(2) === 0 ? 'user' : 'guide');
    }
    const kind = random(8);
    if (kind < 2) return asks(id);
    if (kind > 3) return tells(id);
    const called = Array.from({ length: 1 + random(2) }, (_, place) => `c${number}-${place}`);
    open.push(...called);
    return calls(id, ...called);
  });
}

function partIds(event: Event, kind: 'functionCall' | 'functionResponse'): string[] {
  return (event.content?.parts ?? []).flatMap((part) => part[kind]?.id ?? []);
}

describe('The window of any history', () => {
  it('is its end, is long enough, begins with the user, and has the call of each response', async () => {
    const random = randomOf(1);
    for (let round = 0; round < 300; round += 1) {
      const events = randomHistory(random);
      const numRecentEvents = random(40);
      const service = await holding(
        () => Promise.resolve(new InMemorySessionService()),
        numRecentEvents,
        events,
      );
      const window = (await stored(service)).events;
      const whole = await service.getSession({ ...KEY, config: { numRecentEvents: 'all' } });
      const all = (whole?.events ?? []).map(({ id }) => id);
      const name = `round ${round}, ${numRecentEvents} of ${all.join()}`;
      const shown = window.map(({ id }) => id);
      assert.deepEqual(shown, all.slice(all.length - shown.length), name);
      assert.ok(shown.length >= Math.min(numRecentEvents, all.length), name);
      const [first] = window;
      const isWhole = shown.length === all.length;
      assert.ok(first === undefined || isWhole || first.content?.parts?.[0]?.text === first.id && first.author === 'user', name); // prettier-ignore
      const called = new Set<string>();
      for (const event of window) {
        for (const id of partIds(event, 'functionCall')) called.add(id);
        for (const id of partIds(event, 'functionResponse')) assert.ok(called.has(id), name);
      }
    }
  });
});
