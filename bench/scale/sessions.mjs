// What a long session costs beside a short one: a stale append, a rewind of the last turn, a search after an append, and
// its info.

import { createEvent } from 'adk-session-wasm';
import { rewind } from 'adk-session-wasm/history';
import { sessionSearch } from 'adk-session-wasm/search';
import { atMost, limited, median, shown, timesInTurns } from '../measure.mjs';
import { turnsOf } from './loop_delay.mjs';
import { fill, keyOf, LARGE, SMALL } from './session.mjs';

/** @typedef {import('adk-session-wasm').SessionService} Service */
/** @typedef {import('../measure.mjs').Result} Result */

const unit = 'ms';

/** @typedef {{ case: string, ours: number, peer: number, unit: string }} Times */

const than = `${SMALL} events`;

/** @type {Record<string, { rounds: number, run: (service: Service, count: number) => Promise<() => Promise<unknown>>, judge: (times: Times) => Result }>} */
const WORK = {
  'a stale append': {
    rounds: 5,
    run: staleAppend,
    judge: (times) => atMost({ ...times, most: 3, than }),
  },
  'a rewind of the last turn': {
    rounds: 3,
    run: lastTurn,
    judge: (times) => limited({ ...times, most: 100 }),
  },
  'a search after an append': {
    rounds: 3,
    run: searchNewWord,
    judge: shown,
  },
  sessionInfo: {
    rounds: 1,
    run: info,
    judge: (times) => atMost({ ...times, most: 200, than }),
  },
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

/** For a word of an event that has come after the search has read the session. @param {Service} service @param {number} count */
async function searchNewWord(service, count) {
  const key = keyOf(count);
  const search = sessionSearch(service);
  const word = `word${Math.random().toString(36).slice(2)}`;
  await search.find({ ...key, query: word });
  const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
  if (session === undefined) throw new Error('the session is gone');
  const content = { role: 'user', parts: [{ text: word }] };
  await service.appendEvent({ session, event: createEvent({ author: 'user', content }) });
  return async () => {
    const { hits } = await search.find({ ...key, query: word });
    if (hits.length === 0) throw new Error('the new word is not found');
  };
}

/** @param {Service} service @param {number} count */
function info(service, count) {
  return Promise.resolve(() => service.sessionInfo(keyOf(count)));
}

/** @param {string} storage @param {Service} service @returns {Promise<Result[]>} */
export async function longSessions(storage, service) {
  for (const count of [SMALL, LARGE]) await fill(service, count);
  const results = [];
  for (const [name, { rounds, run, judge }] of Object.entries(WORK)) {
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
      judge({ case: title, ours, peer, unit }),
      shown({ case: `${title}, longest turn`, ours: longest.large, peer: longest.small, unit }),
    );
  }
  return results;
}
