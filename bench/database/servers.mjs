// PostgreSQL and MariaDB: servers that the bench starts on loopback, with their default settings. Their files are in the
// system's folder for temporary files.

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { bookkeeping } from '../bookkeeping.mjs';
import { creations } from '../creations.mjs';
import { eventPages } from '../event_pages.mjs';
import { atMost, inTurns, shown, timeOf } from '../measure.mjs';
import { postgresAtOnce } from './at_once.mjs';
import { appendsOf, bare, eventsOf, keyOf, ours, TURNS } from './appends.mjs';
import { BareServer } from './bare_server.mjs';
import { COUNT, expectEvents, fill, longKey } from './long_session.mjs';

/** @typedef {import('../measure.mjs').Result} Result */

// The tests' functions that start servers.
/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startMariadb, startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);
/** @type {typeof import('../../tests/interop/python.js')} */
const { startPython } = await tsImport('../../tests/interop/python.ts', import.meta.url);

const program = fileURLToPath(new URL('sessions.py', import.meta.url));
const unit = 'ms';
const than = 'bare code';

/** @returns {Promise<Result[]>} */
export async function serverCases() {
  return [
    ...(await onServer(startPostgres, postgresCases)),
    ...(await onServer(startMariadb, mariadbCases)),
  ];
}

/**
 * @param {typeof startPostgres} start
 * @param {(address: string) => Promise<Result[]>} measure called with the address of the database, without a scheme
 */
async function onServer(start, measure) {
  const server = await start();
  try {
    return await measure(`adk@127.0.0.1:${server.port}/adk`);
  } finally {
    await server.remove();
  }
}

/** @param {string} address */
async function postgresCases(address) {
  const service = new DatabaseSessionService(`postgresql://${address}`);
  await service.ping(); // creates the tables, which all sides share
  const python = startPython(program, `postgresql+asyncpg://${address}`);
  /** @param {object} line @returns {Promise<number[]>} */
  const ask = async (line) => JSON.parse(await python.ask(line));
  try {
    return [
      ...(await postgresAppends(`postgresql://${address}`, ask)),
      ...(await postgresAtOnce(`postgresql://${address}`, ask)),
      await fullRead(service, ask),
      ...(await creations('PostgreSQL', (run) => run(service))),
      ...(await bookkeeping('PostgreSQL', service)),
      await eventPages('PostgreSQL', service),
    ];
  } finally {
    await service.close();
    await python.end();
  }
}

/** @param {string} url @param {(line: object) => Promise<number[]>} ask */
async function postgresAppends(url, ask) {
  const sides = {
    ours: ours(url),
    bare: bare(new BareServer('postgresql', url)),
    python: {
      appendTimes: (/** @type {number} */ round) =>
        ask({ append: inSeconds(eventsOf(round)), session: keyOf('python', round).sessionId }),
      close: () => Promise.resolve(),
    },
  };
  const times = await inTurns(appendsOf(sides), TURNS);
  for (const side of Object.values(sides)) await side.close();
  const values = { ours: times.ours, unit };
  const name = 'PostgreSQL: append';
  return [
    atMost({ case: name, ...values, peer: times.python, most: 1 / 1.5, than: 'Python' }),
    atMost({ case: `${name}, bare`, ...values, peer: times.bare, most: 1.5, than }),
  ];
}

/** Python's times are seconds. @param {{ timestamp: number }[]} events */
function inSeconds(events) {
  return events.map((event) => ({ ...event, timestamp: event.timestamp / 1000 }));
}

/** Compares reads of the same rows. @param {DatabaseSessionService} service @param {(line: object) => Promise<number[]>} ask */
async function fullRead(service, ask) {
  await fill(service);
  await expectEvents(service.getSession(longKey), COUNT);
  const { appName, userId, sessionId } = longKey;
  const read = { app_name: appName, user_id: userId, session_id: sessionId };
  const times = await inTurns(
    {
      ours: () => timeOf(() => service.getSession(longKey)),
      python: () => ask({ read, count: COUNT }),
    },
    { rounds: 9, warmUp: 4, collects: false },
  );
  return atMost({
    case: 'PostgreSQL: all 10,000 events',
    ours: times.ours,
    peer: times.python,
    unit,
    most: 1 / 10,
    than: 'Python',
  });
}

/** @param {string} address */
async function mariadbCases(address) {
  const url = `mariadb://${address}`;
  const sides = { ours: ours(url), bare: bare(new BareServer('mariadb', url)) };
  const times = await inTurns(appendsOf(sides), TURNS);
  for (const side of Object.values(sides)) await side.close();
  const service = new DatabaseSessionService(url);
  try {
    return [
      shown({ case: 'MariaDB: append, bare', ours: times.ours, peer: times.bare, unit }),
      ...(await creations('MariaDB', (run) => run(service))),
      ...(await bookkeeping('MariaDB', service)),
      await eventPages('MariaDB', service),
    ];
  } finally {
    await service.close();
  }
}
