// The peculiarities of files of google-adk's SqliteSessionService. sessions.test.ts has the common tests.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { Event } from '../../../js/index.js';
import { columnsOf } from '../../js/stores/database/tables/sqlite_service_tables.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';
import { newFiles, sqliteServiceFiles } from './shared_databases.js';

describe("A file of Python's SqliteSessionService", { timeout: 120_000 }, () => {
  const newDatabase = sqliteServiceFiles();
  const newFile = newFiles();
  let python: PythonSessions;
  let service: DatabaseSessionService;
  let file: string;
  before(() => {
    python = startPythonSessions();
  });
  after(() => python.end());
  beforeEach(async () => {
    const urls = await newDatabase();
    file = urls.ours.slice('sqlite:'.length);
    service = new DatabaseSessionService(urls.ours);
    await python.open(urls.python);
  });
  afterEach(() => service.close());

  /** Runs a query on the file, and returns the first column. */
  function valueOf(query: string): unknown {
    const database = new Sqlite(file, { readonly: true });
    try {
      return database.prepare(query).pluck().get();
    } finally {
      database.close();
    }
  }

  it('made by Python is recognised, and has the tables of the tests', async () => {
    const made = newFile();
    await python.open(`sqlite:///${made}`);
    await python.ask('create', { ...PYTHON_KEY, state: { n: 1, 'user:u': 1 } });
    await python.ask('append', pythonEvent('one'));
    const opened = new DatabaseSessionService(`sqlite:${made}`);
    const session = await opened.getSession(KEY);
    await opened.close();
    assert.deepEqual(session?.state, { n: 1, 'user:u': 1 });
    assert.deepEqual(session.events.map(firstText), ['one']);

    const [ours, theirs] = [file, made].map((path) => new Sqlite(path, { readonly: true }));
    assert.ok(ours && theirs);
    assert.deepEqual(columnsOf(ours), columnsOf(theirs));
    ours.close();
    theirs.close();
  });

  it('returns events to Python in append order, whatever their timestamps', async () => {
    const session = await service.createSession(KEY);
    const texts = ['three', 'one', 'two'];
    const times = [3000, 1000, 2000];
    for (const [at, text] of texts.entries()) {
      await service.appendEvent({
        session,
        event: { ...userEvent(text), timestamp: times[at] ?? 0 },
      });
    }
    const { events } = await python.ask('get', PYTHON_KEY);
    assert.deepEqual(events.map(firstText), texts);
    assert.deepEqual(
      events.map(({ timestamp }) => timestamp),
      [3, 1, 2],
    );
  });

  it('keeps times exact to the microsecond in both directions', async () => {
    const times = fc.sample(fc.integer({ min: 1.6e15, max: 1.9e15 }), 100).sort();
    await python.ask('create', PYTHON_KEY);
    const events = times.map((micros) => pythonEvent('', {}, micros / 1e6));
    await python.ask('append all', events);
    const session = await service.getSession(KEY);
    assert.deepEqual(
      session?.events.map((event) => Math.round(event.timestamp * 1000)),
      times,
    );
    const event: Event = { ...userEvent('ours'), timestamp: 1741218414968.405 };
    await service.appendEvent({ session, event });
    const read = await python.ask('get', PYTHON_KEY);
    assert.equal(read.events.at(-1)?.timestamp, 1741218414.968405);
    assert.ok(read.lastUpdateTime > (times.at(-1) ?? 0) / 1e6);
  });

  it("keeps the package's state keys when Python changes another key", async () => {
    const state = Object.fromEntries(fc.sample(fc.tuple(keys, values), 1000));
    const session = await service.createSession({ ...KEY, state: scoped(state) });
    await python.ask('get', PYTHON_KEY);
    const delta = { theirs: 1, 'user:theirs': 2, 'app:theirs': 3 };
    const { error } = await python.ask('append', pythonEvent('', delta));
    assert.equal(error, undefined);
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.state, { ...session.state, ...delta });
  });

  it('loses text after U+0000 in Python, but not within a list', async () => {
    await python.ask('create', { ...PYTHON_KEY, state: { text: 'a\0b', list: ['a\0b'] } });
    await python.ask('append', pythonEvent('', { n: 1 }));
    const session = await service.getSession(KEY);
    assert.deepEqual(session?.state, { text: 'a', list: ['a\0b'], n: 1 });
  });

  it("loses the package's rows with their session, whoever deletes it", async () => {
    const begin = async () => {
      const session = await service.createSession({ ...KEY, state: { old: true, 'user:u': 1 } });
      // An event with an earlier time needs a row in the package's own table.
      await service.appendEvent({ session, event: { ...userEvent('old'), timestamp: 1000 } });
      assert.equal(valueOf('select count(*) from adk_session_wasm_sessions'), 1);
      return session;
    };
    const session = await begin();
    await python.ask('delete', PYTHON_KEY);
    assert.equal(await service.getSession(KEY), undefined);
    await assert.rejects(service.appendEvent({ session, event: userEvent('late') }), {
      code: 'not_found',
    });
    assert.equal(valueOf('select count(*) from adk_session_wasm_sessions'), 0);

    await begin();
    await service.deleteSession(KEY);
    assert.equal(await python.askText('get', PYTHON_KEY), 'null');
    const created = await python.ask('create', PYTHON_KEY);
    assert.deepEqual(created.events, []);
    assert.deepEqual(created.state, { 'user:u': 1 });
    for (const table of ['adk_session_wasm_sessions', 'events']) {
      assert.equal(valueOf(`select count(*) from ${table}`), 0);
    }
  });

  it('has empty states for Python after the package deleted them, which Python fills again', async () => {
    await service.createSession({ ...KEY, state: { 'user:u': 1, 'app:a': 1 } });
    await service.deleteUserState(KEY);
    await service.deleteAppState(KEY);
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).state, {});
    await python.ask('append', pythonEvent('', { 'user:u': 2, 'app:a': 2 }));
    assert.deepEqual((await service.getSession(KEY))?.state, { 'user:u': 2, 'app:a': 2 });
  });
});

/** Any text but U+0000. */
const texts = fc
  .string({ unit: 'binary', maxLength: 12 })
  .map((text) => text.replaceAll('\0', '\u0001'));

const keys = fc.oneof(texts, fc.constantFrom('__proto__', 'a.b', '"', '\\', '$[0]', 'toString'));

/**
 * Numbers outside of lists and objects have at most 15 digits: Python uses SQLite's arithmetic for them, which may
 * change the last digit of longer ones.
 */
const values = fc.oneof(
  texts,
  fc.boolean(),
  fc.constant(null),
  fc.maxSafeInteger(),
  fc.integer({ min: -1e9, max: 1e9 }).map((number) => number / 1e4),
  fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 3 }),
  fc.dictionary(texts, fc.jsonValue({ stringUnit: 'binary' }), { maxKeys: 3 }),
);

/** Prefixes one third of the keys for each scope. */
function scoped(state: Record<string, unknown>): Record<string, unknown> {
  const prefixes = ['own', 'user:', 'app:'];
  return Object.fromEntries(
    Object.entries(state).map(([key, value], at) => [`${prefixes[at % 3]}${key}`, value]),
  );
}
