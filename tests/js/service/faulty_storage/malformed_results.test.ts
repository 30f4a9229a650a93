import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { RowStore } from '../../../../js/core/storage/driver/row_store.js';
import type { Decide, StorageWriteRequest } from '../../../../js/core/storage/index.js';
import { APP, failure, KEY, show, stored } from '../fixture.js';
import type { MapStorage } from '../map_storage.js';
import { faulty } from './faulty_storage.js';

/** Every way to be no whole number from 0 up. */
const NO_COUNT = [undefined, null, '1', -1, 1.5, Number.NaN, Infinity, 2 ** 53, 1n, {}, true];
const NO_TIME = [undefined, null, '1', -1, Number.NaN, Infinity, 1n, {}, new Date(0)];
const NO_TEXT = [undefined, null, 5, {}, ['{}'], new String('{}')];
const NO_LIST = [undefined, null, 5, {}, 'abc', new Set()];
const NO_OBJECT = [5, 'row', true, Symbol('x')];

/** Field → what it must not be. */
const ROWS = {
  session: { created: NO_COUNT, revision: NO_COUNT, lastUpdateTime: NO_TIME, state: NO_TEXT },
  user: { revision: NO_COUNT, state: NO_TEXT },
  app: { revision: NO_COUNT, state: NO_TEXT },
} as const;
const EVENT = { id: NO_TEXT, seq: NO_COUNT, revision: NO_COUNT, timestamp: NO_TIME, text: NO_TEXT };

type Result = Record<string, unknown>;
/** A fault of a result, the field that the error must name, and the function that makes the fault. */
type Malformation = [what: string, field: string, spoil: (result: Result) => void];

function* wrongRow(
  name: string,
  fields: Record<string, readonly unknown[]>,
  get: (result: Result) => Result | undefined,
  put: (result: Result, row: unknown) => void,
): Generator<Malformation> {
  const path = ['session', 'user', 'app'].includes(name) ? name : `${name}[0]`;
  for (const value of NO_OBJECT) {
    yield [
      `${name} ${show(value)}`,
      `${path} that is not an object`,
      (result) => put(result, value),
    ];
  }
  for (const [field, values] of Object.entries(fields)) {
    for (const value of values) {
      yield [
        `${name}.${field} ${show(value)}`,
        `${path}.${field} that`,
        (result) => put(result, { ...get(result), [field]: value }),
      ];
    }
  }
}

function* wrongRows(): Generator<Malformation> {
  for (const [name, fields] of Object.entries(ROWS)) {
    const get = (result: Result): Result => result[name] as Result;
    yield* wrongRow(name, fields, get, (result, row) => (result[name] = row));
  }
}

function* wrongEvents(name: string): Generator<Malformation> {
  for (const value of NO_LIST) {
    yield [`${name} ${show(value)}`, name, (result) => (result[name] = value)];
  }
  const get = (result: Result): Result => (result[name] as Result[])[0] ?? { id: 'x', seq: 1, revision: 1, timestamp: 1, text: '{}' }; // prettier-ignore
  yield* wrongRow(name, EVENT, get, (result, row) => (result[name] = [row]));
}

const FOUND: Malformation[] = [
  ...NO_COUNT.map((value): Malformation => [`floor ${show(value)}`, 'floor', (result) => (result.floor = value)]), // prettier-ignore
  ...wrongRows(),
  ...wrongEvents('events'),
  ...wrongEvents('changed'),
];

const READ: Malformation[] = [...wrongRows(), ...wrongEvents('events')];

const LIST: Malformation[] = [
  ...NO_COUNT.map((value): Malformation => [`total ${show(value)}`, 'total', (result) => (result.total = value)]), // prettier-ignore
  ...['sessions', 'users'].flatMap(
    (name) =>
    NO_LIST.map((value): Malformation => [`${name} ${show(value)}`, name, (result) => (result[name] = value)]), // prettier-ignore
  ),
  ...wrongRow('sessions', { ...ROWS.session, sessionId: NO_TEXT, userId: NO_TEXT }, (result) => (result.sessions as Result[])[0], (result, row) => (result.sessions = [row])), // prettier-ignore
  ...[undefined, null, 5].map((value): Malformation => [`session ${show(value)}`, 'sessions[0] that is not an object', (result) => (result.sessions = [value])]), // prettier-ignore
  ...wrongRow('users', { ...ROWS.user, userId: NO_TEXT }, (result) => (result.users as Result[])[0], (result, row) => (result.users = [row])), // prettier-ignore
  ...wrongRow('app', ROWS.app, (result) => result.app as Result, (result, row) => (result.app = row)), // prettier-ignore
];

/** Makes a storage give malformed results. */
type Install = (storage: MapStorage, spoil: Malformation[2]) => void;

function spoiled<R extends object>(sound: R, spoil: Malformation[2]): R {
  const result: unknown = { ...sound };
  spoil(result as Result);
  return result as R;
}

function decideWith(verb: 'append' | 'create'): Install {
  return (storage, spoil) => {
    storage[verb] = async (request: StorageWriteRequest, decide: Decide) => {
      await Promise.resolve();
      decide(spoiled(storage.find({ ...request, key: KEY }), spoil));
    };
  };
}

/** The verbs that give a result or rows to decide on, the faults of these, and how a storage gets one. */
const MALFORMED: readonly [
  verb: 'append' | 'create' | 'read' | 'list',
  malformations: readonly Malformation[],
  install: Install,
][] = [
  ['append', FOUND, decideWith('append')],
  ['create', FOUND, decideWith('create')],
  [
    'read',
    READ,
    (storage, spoil) => (storage.read = (request) => spoiled(storage.rows(request), spoil)),
  ],
  [
    'list',
    LIST,
    (storage, spoil) => {
      // Only then is its total asked for.
      storage.listsParts = true;
      storage.list = (request) => spoiled(storage.page(request), spoil);
    },
  ],
];

describe('A storage with malformed results', () => {
  for (const [verb, malformations, install] of MALFORMED) {
    for (const [what, field, spoil] of malformations) {
      it(`(${verb}, ${what}) is reported, and nothing is written`, async () => {
        const { calls, isUnharmed } = await faulty((storage) => install(storage, spoil));
        const error = await failure(calls[verb](), 'storage_failed');
        assert.ok(error.message.includes(field), error.message);
        await isUnharmed();
      });
    }
  }

  for (const verb of ['read', 'list'] as const) {
    for (const result of [undefined, null, 5, 'rows', Symbol('x')]) {
      it(`that returns ${String(result)} from ${verb} is reported`, async () => {
        const { calls, isUnharmed } = await faulty((storage) => {
          storage[verb] = () => result as never;
        });
        await failure(calls[verb](), 'storage_failed');
        await isUnharmed();
      });
    }
  }

  for (const found of [undefined, null, 5, 'found']) {
    it(`that passes ${String(found)} to a decision is reported`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage.append = (_, decide) => void decide(found as never);
      });
      const error = await failure(calls.append(), 'storage_failed');
      assert.match(error.message, /append called decide with .+ in place of the rows/);
      await isUnharmed();
    });
  }

  it('is reported with the row, the field and its value', async () => {
    const { calls } = await faulty((storage) => {
      storage.append = (request, decide) => {
        const found = storage.find(request);
        decide({ ...found, session: { ...found.session, revision: '3' } as never });
      };
    });
    const { message } = await failure(calls.append(), 'storage_failed');
    assert.match(
      message,
      /gave session\.revision that is the string "3", not a whole number from 0 up/,
    );
  });

  it('is checked where it is handed in, and not by what reads rows of own storages too', async () => {
    const { service, storage } = await faulty((storage) => {
      storage.read = (request) => {
        const rows = storage.rows(request);
        return {
          ...rows,
          events: rows.events.map((row) => ({ ...row, timestamp: 'now' as never })),
        };
      };
    });
    await failure(stored(service), 'storage_failed');
    const request = { kind: 'window', key: KEY, last: undefined, after: undefined } as const;
    const read = await new RowStore(storage).read(request, {});
    assert.equal(read?.events.length, 1);
  });

  it('may return null for absent members', async () => {
    const { service } = await faulty((storage) => {
      storage.read = (request) => ({ ...storage.rows(request), user: null as never, app: null as never }); // prettier-ignore
    });
    assert.deepEqual((await stored(service)).state, { a: 1 });
  });

  for (const verb of ['create', 'append', 'delete'] as const) {
    it(`may return anything from ${verb}, which has no result`, async () => {
      const { service, calls } = await faulty((storage) => {
        const original = storage[verb].bind(storage) as (...given: unknown[]) => unknown;
        storage[verb] = async (...given: unknown[]) => {
          await original(...given);
          return 'any value' as never;
        };
      });
      await calls[verb]();
      assert.equal((await service.listSessions(APP)).totalItems, { create: 2, append: 1, delete: 0 }[verb]); // prettier-ignore
    });
  }
});
