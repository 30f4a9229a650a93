// PostgreSQL and MariaDB: servers of the tests' own, with the settings that they come with, on this machine's loopback. Their
// files lie below the system's folder for temporary files.

import { DatabaseSessionService } from 'adk-session-wasm/database';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { atMost, inTurns, shown, timeOf } from '../measure.mjs';
import { appendsOf, bare, eventsOf, keyOf, ours, TURNS } from './appends.mjs';
import { BareServer } from './bare_server.mjs';
import { COUNT, expectEvents, fill, longKey } from './long_session.mjs';

/** @typedef {import('../measure.mjs').Result} Result */

// Where the tests start them.
/** @type {typeof import('../../js/database/servers.js')} */
const { startMariadb, startPostgres } = await tsImport(
  '../../js/database/servers.ts',
  import.meta.url,
);
/** @type {typeof import('../../interop/python.js')} */
const { startPython } = await tsImport('../../interop/python.ts', import.meta.url);

const program = fileURLToPath(new URL('sessions.py', import.meta.url));
const unit = 'ms';
const than = 'bare code';

/** @returns {Promise<Result[]>} */
export async function serverCases() {
  return [...(await postgres()), ...(await mariadb())];
}

/** @returns {Promise<Result[]>} */
async function postgres() {
  const server = await startPostgres();
  const address = `adk@127.0.0.1:${server.port}/adk`;
  const url = `postgresql://${address}`;
  const service = new DatabaseSessionService(url);
  await service.open();
  const python = startPython(program, `postgresql+asyncpg://${address}`);
  /** @param {object} line @returns {Promise<number[]>} */
  const ask = async (line) => JSON.parse(await python.ask(line));
  try {
    const sides = {
      ours: ours(url),
      bare: bare(new BareServer('postgresql', url)),
      python: {
        appendTimes: (/** @type {number} */ round) =>
          ask({ append: inSeconds(eventsOf(round)), session: keyOf('python', round).sessionId }),
        close: () => Promise.resolve(),
      },
    };
    const append = await inTurns(appendsOf(sides), TURNS);
    for (const side of Object.values(sides)) await side.close();

    await fill(service);
    await expectEvents(service.getSession(longKey), COUNT);
    const { appName, userId, sessionId } = longKey;
    // The same rows: both have one database.
    const read = { app_name: appName, user_id: userId, session_id: sessionId };
    const all = await inTurns(
      {
        ours: () => timeOf(() => service.getSession(longKey)),
        python: () => ask({ read, count: COUNT }),
      },
      { rounds: 9, warmUp: 2 },
    );
    const name = 'PostgreSQL: append';
    const peer = { unit, than: 'Python' };
    return [
      atMost({ case: name, ours: append.ours, peer: append.python, most: 1 / 1.5, ...peer }),
      atMost({
        case: `${name}, bare`,
        ours: append.ours,
        peer: append.bare,
        most: 1.5,
        unit,
        than,
      }),
      atMost({
        case: 'PostgreSQL: all 10,000 events',
        ours: all.ours,
        peer: all.python,
        most: 1 / 10,
        ...peer,
      }),
    ];
  } finally {
    await service.close();
    await python.end();
    await server.remove();
  }
}

/** Python's times are seconds. @param {{ timestamp: number }[]} events */
function inSeconds(events) {
  return events.map((event) => ({ ...event, timestamp: event.timestamp / 1000 }));
}

/** @returns {Promise<Result[]>} */
async function mariadb() {
  const server = await startMariadb();
  try {
    const url = `mariadb://adk@127.0.0.1:${server.port}/adk`;
    const sides = { ours: ours(url), bare: bare(new BareServer('mariadb', url)) };
    const append = await inTurns(appendsOf(sides), TURNS);
    for (const side of Object.values(sides)) await side.close();
    return [shown({ case: 'MariaDB: append, bare', ours: append.ours, peer: append.bare, unit })];
  } finally {
    await server.remove();
  }
}
