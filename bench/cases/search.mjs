// Searches: by a user with many sessions in databases, and in memory, as in a page.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEvent, InMemorySessionService } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { sessionSearch } from 'adk-session-wasm/search';
import pg from 'pg';
import { tsImport } from 'tsx/esm/api';
import { limited, percentile, timeOf } from '../measure.mjs';

/**
 * @typedef {import('adk-session-wasm').SessionService} Service
 * @typedef {import('../measure.mjs').Result} Result
 * @typedef {{ sessions: number, most: number }} Size the sessions of a user, and the goal in milliseconds
 */

/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startMariadb, startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

const EVENTS = 20;
const WORDS_OF_TEXT = 20;
/** Sessions that are created at once. */
const CREATIONS = 16;
const ROUNDS = 20;
const LANGUAGES = [
  'tea grüner pot morning haus leaf',
  '녹차를 추천해 주세요',
  '緑茶 おすすめ 紅茶',
];
const PARTS = ['ka', 'lo', 'mi', 'ren', 'su', 'tor', 'vel', 'zan'];
/** Found often, in some sessions, in one, as a part of a word, as a phrase, and never. */
const QUERIES = ['grun tea', 'kaka loka', 'rare7x', '녹차', '緑', '"pot morning"', 'absent'];

/** @returns {Promise<Result[]>} */
export default async function search() {
  return [
    ...(await onSqlite()),
    ...(await onServer('PostgreSQL', 'postgresql', startPostgres, analyze)),
    ...(await onServer('MariaDB', 'mariadb', startMariadb)),
    ...(await searches('memory', new InMemorySessionService(), { sessions: 2500, most: 20 })),
  ];
}

async function onSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'search-'));
  const url = `sqlite:///${join(folder, 'search.db')}`;
  const service = new DatabaseSessionService(url, { durability: 'relaxed' });
  try {
    return await ofDatabase('SQLite', service, 100);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
}

/**
 * @param {string} storage
 * @param {string} scheme
 * @param {typeof startPostgres} start
 * @param {(url: string) => Promise<void>} [settle] called after the first search
 */
async function onServer(storage, scheme, start, settle) {
  const server = await start();
  const url = `${scheme}://adk@127.0.0.1:${server.port}/adk`;
  const service = new DatabaseSessionService(url);
  try {
    return await ofDatabase(storage, service, 150, () => settle?.(url));
  } finally {
    await service.close();
    await server.remove();
  }
}

/** Gives the planner the statistics that autovacuum gathers within minutes. @param {string} url */
async function analyze(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}

/**
 * @param {string} storage
 * @param {Service} service
 * @param {number} most the goal at 10,000 sessions
 * @param {() => unknown} [settle]
 */
async function ofDatabase(storage, service, most, settle) {
  return [
    ...(await searches(storage, service, { sessions: 1000, most: 20 }, settle)),
    ...(await searches(storage, service, { sessions: 10_000, most }, settle)),
  ];
}

/**
 * @param {string} storage
 * @param {Service} service
 * @param {Size} size
 * @param {() => unknown} [settle]
 * @returns {Promise<Result[]>}
 */
async function searches(storage, service, { sessions, most }, settle) {
  const user = { appName: 'bench', userId: `of-${sessions}` };
  await fill(service, user, sessions);
  const { find } = sessionSearch(service);
  /** @param {string} query */
  const run = (query) => find({ ...user, query });
  const first = await timeOf(async () => {
    while (!(await run('absent')).isComplete);
  });
  await settle?.();
  /** @type {number[]} */
  const times = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const query of QUERIES) {
      const time = await timeOf(async () => expectHits(query, await run(query)));
      if (round >= 0) times.push(time);
    }
  }
  const name = `${storage}: search in ${sessions} sessions`;
  const ours = percentile(times, 95);
  return [
    limited({ case: `${name}, p95`, ours, unit: 'ms', most }),
    { case: `${name}, median`, ours: percentile(times, 50), unit: 'ms', goal: 'none' },
    { case: `${name}, until the first is complete`, ours: first / 1000, unit: 's', goal: 'none' },
  ];
}

/** @param {string} query @param {import('adk-session-wasm/search').FindResult} result */
function expectHits(query, { hits, isComplete }) {
  const isRight = query === 'absent' ? hits.length === 0 : hits.length > 0;
  if (!isRight || !isComplete) throw new Error(`${query}: ${hits.length} hits`);
}

/** @param {Service} service @param {{ appName: string, userId: string }} user @param {number} count */
async function fill(service, user, count) {
  for (let first = 0; first < count; first += CREATIONS) {
    const some = Array.from({ length: Math.min(CREATIONS, count - first) }, (_, at) => first + at);
    const creations = some.map((session) => {
      const events = Array.from({ length: EVENTS }, (_, at) => eventOf(session * EVENTS + at));
      return service.createSession({ ...user, title: `Chat ${session}`, events });
    });
    await Promise.all(creations);
  }
}

/** About 120 characters: words of 512, every tenth time some of a language, and in one event a rare one. @param {number} number */
function eventOf(number) {
  const words = Array.from({ length: WORDS_OF_TEXT }, (_, at) => {
    const random = Math.imul(number * WORDS_OF_TEXT + at + 1, 0x9e3779b1) >>> 8;
    return [random, random >> 3, random >> 6].map((part) => PARTS[part & 7]).join('');
  });
  if (number % 10 === 0) words.push(LANGUAGES[(number / 10) % 3] ?? '');
  if (number === 7000) words.push('rare7x');
  const text = words.join(' ');
  const isUser = number % 2 === 0;
  return createEvent({
    id: `e${number}`,
    author: isUser ? 'user' : 'guide',
    timestamp: 1_700_000_000_000 + number * 1000,
    content: { role: isUser ? 'user' : 'model', parts: [{ text }] },
  });
}
