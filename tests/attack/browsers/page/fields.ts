// Damages each field of each kind of record in IndexedDB in each way, and checks the outcome of every call.

import {
  type SessionService,
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
import { textEvent } from '../../cases/world.js';
import { CASES, type FieldCase, type Operation, PAGE_SIZE } from './field_cases.js';

const APP = 'shop';
const USER = 'ada';
const key = { appName: APP, userId: USER, sessionId: 's1' };
const sibling = { ...key, sessionId: 's2' };
const START = 1_600_000_000_000;

type Service = SessionService & IndexedDbSessionService;

function event(number: number): Event {
  return { ...textEvent(`e${number}`), timestamp: START + number };
}

async function make(service: Service): Promise<Session> {
  const healthy = await service.createSession({ ...healthyKey, state: { well: true } });
  await service.appendEvent({ session: healthy, event: event(0) });
  const state = { n: 1, 'user:u': 1, 'app:a': 1 };
  const other = await service.createSession({ ...sibling, state: { n: 2 } });
  await service.appendEvent({ session: other, event: event(0) });
  const session = await service.createSession({ ...key, state });
  const together = Array.from({ length: PAGE_SIZE }, (_, number) => event(number));
  await service.appendEvents({ session, events: together });
  for (const number of [0, 1]) {
    await service.appendEvent({ session, event: event(PAGE_SIZE + number) });
  }
  return session;
}

/** The operations that change nothing. */
const READS = {
  full: (service: Service) => service.getSession(key),
  last: (service: Service) => service.getSession({ ...key, config: { numRecentEvents: 5 } }),
  after: (service: Service) =>
    service.getSession({ ...key, config: { afterTimestamp: START + PAGE_SIZE - 5 } }),
  sibling: (service: Service) => service.getSession(sibling),
  list: (service: Service) => service.listSessions({ appName: APP, userId: USER }),
  listApp: (service: Service) => service.listSessions({ appName: APP }),
} satisfies Partial<Record<Operation, (service: Service) => Promise<unknown>>>;

/** Damages a record of one kind directly in the database. */
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
      return isEvent && (row.ids as unknown[]).length === PAGE_SIZE;
    case 'sequence':
      return true;
  }
}

/** The result of a read as text, without parts that the damage may change. */
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
    must(isSessionError(error, 'corrupt_record'), `${operation} fails with corrupt_record.`, error);
    const { record: named } = error as { record?: string };
    must(named?.includes(record!) === true, `${operation} names ${record}.`, error);
    return undefined;
  };
  for (const [operation, read] of Object.entries(READS)) {
    const value = await expect(operation as Operation, () => read(service));
    if (value === undefined) continue;
    const same = shown(value) === before.get(operation);
    must(same, `${operation} returns the stored data.`, shown(value), before.get(operation));
  }
  const skipped = await expect('skip', () =>
    service.getSession({ ...key, config: { skipCorrupt: true } }),
  );
  if (skipped !== undefined) {
    const { events } = skipped as Session;
    must(
      events.length >= PAGE_SIZE + 2 - damaged.lost,
      'All other events are read.',
      events.length,
    );
  }
  const appended = await expect('append', () =>
    service.appendEvent({ session, event: event(PAGE_SIZE + 2) }),
  );
  if (appended !== undefined) {
    const read = await expect('full', READS.full.bind(undefined, service));
    const ids = (read as Session | undefined)?.events.map(({ id }) => id);
    must(ids?.at(-1) !== `e${PAGE_SIZE + 1}`, 'The appended event is read.', ids);
  }
  const stateDelta = { n: 3, 'user:u': 3, 'app:a': 3 };
  await expect('update', () => service.updateState({ ...key, stateDelta }));
  const other = await expect('sibling', () => service.getSession(sibling));
  if (other !== undefined) {
    await service.appendEvent({ session: other as Session, event: event(1) });
    const { events } = (await service.getSession(sibling))!;
    must(events.length === 2, 'The other session keeps working.', events.length);
  }
  await expect('create', () => service.createSession({ ...key, sessionId: 's3' }));
  await expect('delete', () => service.deleteSession(key));
  await expect('delete', () => service.deleteUser({ appName: APP, userId: USER }));
  await expect('delete', () => service.deleteAppState({ appName: APP }));
  // The damage never affects the other app.
  const healthy = await service.getSession(healthyKey);
  must(
    healthy?.events.length === 1 && healthy.state.well === true,
    'All other data is readable.',
    healthy,
  );
  await service.appendEvent({ session: healthy!, event: event(1) });
  if (damaged.fails.delete === undefined) {
    const created = await service.createSession(key);
    must(
      Object.keys(created.state).length === 0,
      'The new session has no deleted data.',
      created.state,
    );
    await service.appendEvent({ session: created, event: event(0) });
    const read = await service.getSession(key);
    must(
      read?.events.length === 1,
      'The new session begins empty and can be appended to.',
      read?.events.length,
    );
    const { totalItems } = await service.listSessions({ appName: APP });
    must(totalItems === 1, 'Only the new session is listed.', totalItems);
  }
  await service.close();
  await clear(name);
}

/** Runs every `step`th case, beginning with `first`. @returns the failures */
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
