// What a user with many sessions costs beside one with few: a list of all, and a search whose words are known. On
// PostgreSQL also without statistics, as after a restore.

import pg from 'pg';
import { sessionSearch } from 'adk-session-wasm/search';
import { atMost, median, shown, timesInTurns } from '../measure.mjs';
import { turnsOf } from './loop_delay.mjs';

/** @typedef {import('adk-session-wasm').SessionService} Service */
/** @typedef {import('../measure.mjs').Result} Result */

const SMALL = 100;
const LARGE = 5000;
const AT_ONCE = 128;
const unit = 'ms';

/** @param {number} count */
const ownerOf = (count) => ({ appName: 'bench', userId: `of-${count}` });

/** Creates sessions with two messages, and lets a search read them. @param {Service} service @param {number} count */
async function fill(service, count) {
  for (let first = 0; first < count; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => first + at);
    await Promise.all(
      numbers.map(async (number) => {
        const title = `Session ${number}`;
        const session = await service.createSession({ ...ownerOf(count), title });
        const events = ['user', 'guide'].map((author) => ({
          invocationId: 'i1',
          author,
          content: {
            role: author === 'user' ? 'user' : 'model',
            parts: [{ text: `tea ${number}` }],
          },
        }));
        await service.appendEvents({ session, events });
      }),
    );
  }
  const search = sessionSearch(service);
  for (let isComplete = false; !isComplete;) {
    ({ isComplete } = await search.find({ ...ownerOf(count), query: 'tea' }));
  }
}

/** @type {Record<string, (service: Service, count: number) => Promise<unknown>>} */
const WORK = {
  'a list of all': (service, count) => service.listSessions(ownerOf(count)),
  'a search': (service, count) =>
    sessionSearch(service).find({ ...ownerOf(count), query: `tea ${count - 1}` }),
};

/** @param {string} url */
async function deleteStatistics(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = `select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`;
  await client.query('alter system set autovacuum = off');
  await client.query('select pg_reload_conf()');
  await client.query(`delete from pg_statistic where starelid in (${tables})`);
  await client.query(`update pg_class set reltuples = -1, relpages = 0 where oid in (${tables})`);
  await client.end();
}

/**
 * @param {string} storage
 * @param {Service} service
 * @param {() => Service} newService of another program over the same database
 * @param {string} url
 * @returns {Promise<Result[]>}
 */
export async function manySessions(storage, service, newService, url) {
  for (const count of [SMALL, LARGE]) await fill(service, count);
  const results = [];
  for (const [name, run] of Object.entries(WORK)) {
    const longest = { small: 0, large: 0 };
    const side =
      (/** @type {'small' | 'large'} */ which, /** @type {number} */ count) => async () => {
        const turns = await turnsOf(() => run(service, count));
        longest[which] = Math.max(longest[which], turns.longest);
        return turns.time;
      };
    const sides = { small: side('small', SMALL), large: side('large', LARGE) };
    const times = await timesInTurns(sides, { rounds: 3, warmUp: 1 });
    const [ours, peer] = [median(times.large), median(times.small)];
    const title = `${storage}: ${name}, ${LARGE} sessions`;
    results.push(
      shown({ case: title, ours, peer, unit }),
      shown({ case: `${title}, longest turn`, ours: longest.large, peer: longest.small, unit }),
    );
  }
  if (!url.startsWith('postgresql:')) return results;
  for (const [name, run] of Object.entries(WORK)) {
    /** The first and the second time in a program that has just started. */
    const times = async () => {
      const fresh = newService();
      await fresh.ping();
      const [first, second] = [
        await turnsOf(() => run(fresh, LARGE)),
        await turnsOf(() => run(fresh, LARGE)),
      ];
      await fresh.close?.();
      return [first.time, second.time];
    };
    const [firstKnown = 0, secondKnown = 0] = await times();
    await deleteStatistics(url);
    const [first = 0, second = 0] = await times();
    const title = `${storage} without statistics: ${name}, ${LARGE} sessions`;
    const than = 'with statistics';
    results.push(
      shown({ case: `${title}, the first of a program`, ours: first, peer: firstKnown, unit }),
      atMost({ case: title, ours: second, peer: secondKnown, unit, most: 2, than }),
    );
  }
  return results;
}
