// SQLite: files in the system's folder for temporary files. A commit's time depends on that disk, for both sides. If the
// folder is in memory, the strict cases measure no disk: set TMPDIR to a folder on a disk.

import Sqlite from 'better-sqlite3';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEvent, makeEvents } from '../events.mjs';
import { atMost, inTurns, timeOf, timeOfMany } from '../measure.mjs';
import { appender, appendsOf, bare, ours, TURNS } from './appends.mjs';
import { BareSqlite } from './bare_sqlite.mjs';
import { COUNT, expectEvents, fill, longKey } from './long_session.mjs';
import { loadPeer } from './peer.mjs';

/** @typedef {import('../measure.mjs').Result} Result */
/** @typedef {Awaited<ReturnType<typeof loadPeer>>} Peer */

const RECENT = 20;

/** @returns {Promise<Result[]>} */
export async function sqliteCases() {
  const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-bench-'));
  try {
    const peer = await loadPeer();
    return [...(await appends(folder, peer)), ...(await reads(folder, peer))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The SQL of the package's tables and indices. @param {string} folder */
async function tablesOf(folder) {
  const file = join(folder, 'tables.db');
  const service = new DatabaseSessionService(`sqlite:${file}`);
  await service.ping();
  await service.close();
  const database = new Sqlite(file, { readonly: true });
  const statements = database
    .prepare('select sql from sqlite_master where sql is not null')
    .pluck()
    .all();
  database.close();
  return statements.join(';\n');
}

/**
 * Closes the peer's connection: the peer has no `close`, and would keep the program running.
 *
 * @param {any} service
 * @returns {Promise<void>}
 */
function closePeer(service) {
  return service.orm.close(true);
}

/** @param {Peer} peer @param {string} url @returns {import('./appends.mjs').Side} */
function ofPeer({ DatabaseSessionService: Service, createEvent: create }, url) {
  const service = new Service(url);
  return { appendTimes: appender(service, create, 'peer'), close: () => closePeer(service) };
}

/** @param {string} folder @param {Peer} peer @returns {Promise<Result[]>} */
async function appends(folder, peer) {
  const tables = await tablesOf(folder);
  const file = (/** @type {string} */ name) => join(folder, `${name}.db`);
  const sides = {
    strict: ours(`sqlite:${file('strict')}`),
    bareStrict: bare(new BareSqlite(file('bare-strict'), tables, 'full')),
    relaxed: ours(`sqlite:${file('relaxed')}`, { durability: 'relaxed' }),
    bareRelaxed: bare(new BareSqlite(file('bare-relaxed'), tables, 'normal')),
    memory: ours('sqlite::memory:'),
    bareMemory: bare(new BareSqlite(':memory:', tables, 'full')),
    peer: ofPeer(peer, `sqlite://${file('peer')}`),
    peerMemory: ofPeer(peer, 'sqlite://:memory:'),
  };
  const times = await inTurns(appendsOf(sides), TURNS);
  for (const side of Object.values(sides)) await side.close();
  const unit = 'ms';
  const than = 'bare code';
  const ofCase = (/** @type {string} */ name) => `SQLite: append, ${name}`;
  const { strict, relaxed, memory, bareStrict, bareRelaxed, bareMemory } = times;
  return [
    atMost({ case: ofCase('strict'), ours: strict, peer: times.peer, unit, most: 1 / 5 }),
    atMost({ case: ofCase('relaxed'), ours: relaxed, peer: times.peer, unit, most: 1 / 20 }),
    atMost({ case: ofCase('memory'), ours: memory, peer: times.peerMemory, unit, most: 1 / 10 }),
    atMost({ case: ofCase('strict, bare'), ours: strict, peer: bareStrict, unit, most: 1.5, than }),
    atMost({
      case: ofCase('relaxed, bare'),
      ours: relaxed,
      peer: bareRelaxed,
      unit,
      most: 1.5,
      than,
    }),
    atMost({ case: ofCase('memory, bare'), ours: memory, peer: bareMemory, unit, most: 1.5, than }),
  ];
}

/**
 * Stores one event through the peer, and the others directly in its table in the same form: through the peer, they
 * would take minutes.
 *
 * @param {Peer} peer
 * @param {string} file
 */
async function filledPeer({ DatabaseSessionService: Service, createEvent: create }, file) {
  const service = new Service(`sqlite://${file}`);
  const session = await service.createSession(longKey);
  await service.appendEvent({ session, event: create(makeEvent(0)) });
  const database = new Sqlite(file);
  const row = /** @type {{ event_data: string }} */ (
    database.prepare('select * from events').get()
  );
  const data = JSON.parse(row.event_data);
  const names = Object.keys(row);
  const insert = database.prepare(
    `insert into events (${names.join()}) values (${names.map((name) => `@${name}`).join()})`,
  );
  database.transaction(() => {
    for (const { actions, ...event } of makeEvents(COUNT - 1, 1, (event) => event)) {
      const { id, timestamp, content } = event;
      const state = { ...data.actions, state_delta: actions.stateDelta };
      const event_data = JSON.stringify({ ...data, id, timestamp, content, actions: state });
      insert.run({ ...row, id, timestamp, event_data });
    }
  })();
  database.close();
  return service;
}

/** @param {string} folder @param {Peer} peer @returns {Promise<Result[]>} */
async function reads(folder, peer) {
  const service = new DatabaseSessionService(`sqlite:${join(folder, 'long.db')}`);
  await fill(service);
  const peerService = await filledPeer(peer, join(folder, 'long-peer.db'));
  const recent = { ...longKey, config: { numRecentEvents: RECENT } };
  for (const one of [service, peerService]) {
    await expectEvents(one.getSession(longKey), COUNT);
    await expectEvents(one.getSession(recent), RECENT);
  }
  const all = await inTurns(
    {
      ours: () => timeOf(() => service.getSession(longKey)),
      peer: () => timeOf(() => peerService.getSession(longKey)),
    },
    { rounds: 9, warmUp: 4, collects: false },
  );
  const last = await inTurns(
    {
      ours: () => timeOfMany(50, () => service.getSession(recent)),
      peer: () => timeOfMany(2, () => peerService.getSession(recent)),
    },
    { rounds: 15, warmUp: 10, collects: false },
  );
  await service.close();
  await closePeer(peerService);
  const unit = 'ms';
  return [
    atMost({
      case: 'SQLite: all 10,000 events',
      ours: all.ours,
      peer: all.peer,
      unit,
      most: 1 / 5,
    }),
    atMost({
      case: `SQLite: last ${RECENT} of 10,000 events`,
      ours: last.ours,
      peer: last.peer,
      unit,
      most: 1 / 10,
    }),
  ];
}
