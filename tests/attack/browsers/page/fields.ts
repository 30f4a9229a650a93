// Each field of each kind of record in IndexedDB, damaged once in each way, and what every call must then answer.

import {
  type BaseSessionService,
  type Event,
  IndexedDbSessionService,
  isSessionError,
  type Session,
} from 'adk-session-wasm';
import {
  answer,
  clear,
  completion,
  type Row,
  withDatabase,
} from '../../../browser/indexed_db/page/bare.js';
import { healthyKey } from '../../cases/damage.js';
import { must, outcomeOf, requireTypedError } from '../../cases/oracle.js';
import { said } from '../../cases/world.js';
import { CASES, type FieldCase, type Operation, TOGETHER } from './field_cases.js';

const APP = 'shop';
const USER = 'ada';
const key = { appName: APP, userId: USER, sessionId: 's1' };
const sibling = { ...key, sessionId: 's2' };
const START = 1_600_000_000_000;

type Service = BaseSessionService & IndexedDbSessionService;

function event(number: number): Event {
  return { ...said(`e${number}`), timestamp: START + number };
}

async function make(service: Service): Promise<Session> {
  const healthy = await service.createSession({ ...healthyKey, state: { well: true } });
  await service.appendEvent({ session: healthy, event: event(0) });
  const state = { n: 1, 'user:u': 1, 'app:a': 1 };
  const other = await service.createSession({ ...sibling, state: { n: 2 } });
  await service.appendEvent({ session: other, event: event(0) });
  const session = await service.createSession({ ...key, state });
  const together = Array.from({ length: TOGETHER }, (_, number) => event(number));
  await service.appendEvents({ session, events: together });
  for (const number of [0, 1]) {
    await service.appendEvent({ session, event: event(TOGETHER + number) });
  }
  return session;
}

/** What is read, by operations that change nothing. */
const READS = {
  full: (service: Service) => service.getSession(key),
  last: (service: Service) => service.getSession({ ...key, config: { numRecentEvents: 5 } }),
  after: (service: Service) =>
    service.getSession({ ...key, config: { afterTimestamp: START + TOGETHER - 5 } }),
  sibling: (service: Service) => service.getSession(sibling),
  list: (service: Service) => service.listSessions({ appName: APP, userId: USER }),
  listApp: (service: Service) => service.listSessions({ appName: APP }),
} satisfies Partial<Record<Operation, (service: Service) => Promise<unknown>>>;

/** Damages the record of one kind, past every rule. */
function damage(name: string, { kind, field, value }: FieldCase): Promise<void> {
  return withDatabase(name, async (database) => {
    const store = kind === 'single' || kind === 'page' ? 'events' : STORES[kind];
    const transaction = database.transaction([store, 'sessions'], 'readwrite');
    const done = completion(transaction);
    const session = (await answer(
      transaction.objectStore('sessions').get([APP, USER, 's1']),
    )) as Row;
    const records = transaction.objectStore(store);
    const rows = (await answer(records.getAll())) as Row[];
    const row = rows.filter((row) => isOf(kind, row, session)).at(-1);
    if (row === undefined) throw new Error(`There is no record of a ${kind}.`);
    const damaged: unknown = isChange(value) ? value(row[field]) : value;
    if (damaged === undefined) delete row[field];
    else row[field] = damaged;
    records.put(row);
    await done;
  });
}

function isChange(value: unknown): value is (stored: unknown) => unknown {
  return typeof value === 'function';
}

const STORES = { session: 'sessions', user: 'states', app: 'states', sequence: 'meta' } as const;

function isOf(kind: FieldCase['kind'], row: Row, session: Row): boolean {
  const isEvent = row.number === session.number && Array.isArray(row.ids);
  switch (kind) {
    case 'session':
      return row.number === session.number && row.sessionId === 's1';
    case 'user':
    case 'app':
      return JSON.stringify(row.key) === JSON.stringify(kind === 'user' ? [APP, USER] : [APP]);
    case 'single':
      return isEvent && (row.ids as unknown[]).length === 1;
    case 'page':
      return isEvent && (row.ids as unknown[]).length === TOGETHER;
    case 'sequence':
      return true;
  }
}

/** What a read says, without what the damage may change in a tolerated way. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'sessions' in value) {
    const { sessions, totalItems } = value as { sessions: Session[]; totalItems: number };
    return JSON.stringify([totalItems, sessions.map(shown).sort()]);
  }
  const { id, state, events } = value as Session;
  return JSON.stringify([id, Object.entries(state).sort(), events.map(({ id }) => id)]);
}

async function runCase(name: string, damaged: FieldCase): Promise<void> {
  const service = new IndexedDbSessionService({ name }) as Service;
  const session = await make(service);
  const before = new Map<string, string>();
  for (const [operation, read] of Object.entries(READS)) {
    before.set(operation, shown(await read(service)));
  }
  await damage(name, damaged);
  const expect = async (operation: Operation, call: () => Promise<unknown>): Promise<unknown> => {
    const outcome = await outcomeOf(call);
    requireTypedError(outcome);
    if (damaged.open.includes(operation)) return undefined;
    const record = damaged.fails[operation];
    if (outcome.isDone) {
      must(record === undefined, `${operation} fails.`, outcome.value);
      return outcome.value;
    }
    const { error } = outcome;
    must(record !== undefined, `${operation} works.`, error);
    must(isSessionError(error, 'corrupt_record'), `${operation} says corrupt_record.`, error);
    const { record: named } = error as { record?: string };
    must(named?.includes(record!) === true, `${operation} names ${record}.`, error);
    return undefined;
  };
  for (const [operation, read] of Object.entries(READS)) {
    const value = await expect(operation as Operation, () => read(service));
    if (value === undefined) continue;
    const same = shown(value) === before.get(operation);
    must(same, `${operation} reads what was stored.`, shown(value), before.get(operation));
  }
  const skipped = await expect('skip', () =>
    service.getSession({ ...key, config: { skipCorrupt: true } }),
  );
  if (skipped !== undefined) {
    const { events } = skipped as Session;
    must(events.length >= TOGETHER + 2 - damaged.lost, 'All other events are read.', events.length);
  }
  const appended = await expect('append', () =>
    service.appendEvent({ session, event: event(TOGETHER + 2) }),
  );
  if (appended !== undefined) {
    const read = await expect('full', READS.full.bind(undefined, service));
    const ids = (read as Session | undefined)?.events.map(({ id }) => id);
    must(ids?.at(-1) !== `e${TOGETHER + 1}`, 'What was appended is read.', ids);
  }
  const stateDelta = { n: 3, 'user:u': 3, 'app:a': 3 };
  await expect('update', () => service.updateState({ ...key, stateDelta }));
  const other = await expect('sibling', () => service.getSession(sibling));
  if (other !== undefined) {
    await service.appendEvent({ session: other as Session, event: event(1) });
    const { events } = (await service.getSession(sibling))!;
    must(events.length === 2, 'The other session goes on.', events.length);
  }
  await expect('create', () => service.createSession({ ...key, sessionId: 's3' }));
  await expect('delete', () => service.deleteSession(key));
  await expect('delete', () => service.deleteUser({ appName: APP, userId: USER }));
  await expect('delete', () => service.deleteAppState({ appName: APP }));
  // Of the other app, nothing is ever in the way.
  const healthy = await service.getSession(healthyKey);
  must(healthy?.events.length === 1 && healthy.state.well === true, 'All else is read.', healthy);
  await service.appendEvent({ session: healthy!, event: event(1) });
  if (damaged.fails.delete === undefined) {
    const created = await service.createSession(key);
    must(Object.keys(created.state).length === 0, 'What was deleted is gone.', created.state);
    await service.appendEvent({ session: created, event: event(0) });
    const read = await service.getSession(key);
    must(read?.events.length === 1, 'It begins empty, and goes on.', read?.events.length);
    const { totalItems } = await service.listSessions({ appName: APP });
    must(totalItems === 1, 'It alone is listed.', totalItems);
  }
  await service.close();
  await clear(name);
}

/** Runs every `step`th case from `first` on. @returns what went wrong */
export async function runFields(name: string, first: number, step: number): Promise<string> {
  const wrong: string[] = [];
  for (let index = first; index < CASES.length; index += step) {
    const damaged = CASES[index]!;
    try {
      await runCase(name, damaged);
    } catch (error) {
      const { kind, field, way } = damaged;
      const text = error instanceof Error ? error.message : String(error);
      wrong.push(`${index}: ${kind}.${field}, ${way}: ${text}`);
      await IndexedDbSessionService.deleteDatabase(name);
    }
  }
  return wrong.join('\n\n');
}
