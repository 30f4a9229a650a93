// What a long session costs beside a short one: a stale append, a rewind of the last turn, and its info.

import { createEvent } from 'adk-session-wasm';
import { rewind } from 'adk-session-wasm/history';
import { atMost, median, shown, timesInTurns } from '../measure.mjs';
import { turnsOf } from './loop_delay.mjs';
import { fill, keyOf, LARGE, SMALL } from './session.mjs';

/** @typedef {import('adk-session-wasm').SessionService} Service */
/** @typedef {import('../measure.mjs').Result} Result */

const unit = 'ms';

/** @type {Record<string, { most: number, rounds: number, run: (service: Service, count: number) => Promise<() => Promise<unknown>> }>} */
const WORK = {
  'a stale append': { most: 3, rounds: 5, run: staleAppend },
  'a rewind of the last turn': { most: 10, rounds: 3, run: lastTurn },
  sessionInfo: { most: 200, rounds: 1, run: info },
};

/** Through a handle of the moment after the import, after somebody else's append. @param {Service} service @param {number} count */
async function staleAppend(service, count) {
  const config = { numRecentEvents: 1 };
  const read = async () => {
    const session = await service.getSession({ ...keyOf(count), config });
    if (session === undefined) throw new Error('the session is gone');
    return session;
  };
  const [session, other] = [await read(), await read()];
  const event = () => createEvent({ author: 'guide', invocationId: 'last' });
  await service.appendEvent({ session: other, event: event() });
  return () => service.appendEvent({ session, event: event() });
}

/** @param {Service} service @param {number} count */
async function lastTurn(service, count) {
  const key = keyOf(count);
  const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  const invocationId = `turn ${Math.random()}`;
  const actions = { stateDelta: { step: invocationId } };
  await service.appendEvents({
    session: /** @type {any} */ (session),
    events: [
      createEvent({ author: 'user', invocationId }),
      createEvent({ author: 'guide', invocationId, actions: /** @type {any} */ (actions) }),
    ],
  });
  return () => rewind(service, { ...key, before: { invocationId } });
}

/** @param {Service} service @param {number} count */
function info(service, count) {
  return Promise.resolve(() => service.sessionInfo(keyOf(count)));
}

/** @param {string} storage @param {Service} service @returns {Promise<Result[]>} */
export async function longSessions(storage, service) {
  for (const count of [SMALL, LARGE]) await fill(service, count);
  const results = [];
  for (const [name, { most, rounds, run }] of Object.entries(WORK)) {
    const longest = { small: 0, large: 0 };
    const side =
      (/** @type {'small' | 'large'} */ which, /** @type {number} */ count) => async () => {
        const turns = await turnsOf(await run(service, count));
        longest[which] = Math.max(longest[which], turns.longest);
        return turns.time;
      };
    const sides = { small: side('small', SMALL), large: side('large', LARGE) };
    const times = await timesInTurns(sides, { rounds, warmUp: 1 });
    const [ours, peer] = [median(times.large), median(times.small)];
    const title = `${storage}: ${name}, ${LARGE} events`;
    results.push(
      atMost({ case: title, ours, peer, unit, most, than: `${SMALL} events` }),
      shown({ case: `${title}, longest turn`, ours: longest.large, peer: longest.small, unit }),
    );
  }
  return results;
}
