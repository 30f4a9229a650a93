// The mutations of clients: a late, doubled or overtaken write changes nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, isSessionError, type SessionService } from '../../../../../js/index.js';
import type { MutationId } from '../../../../../js/values/model/diagnostic.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { sessionHandler } from '../../../../../js/server/index.js';
import { CORE } from '../../../../../js/core/core_of.js';
import type { ServiceCore } from '../../../../../js/service/service_core.js';
import type { ReadyAppend } from '../../../../../js/core/write.js';
import type { Store } from '../../../../../js/core/storage/store.js';
import { snapshotEvent } from '../../../../../js/values/model/event/snapshot.js';
import { ALL_RIGHTS, KEY } from '../../../server/fixture.js';

const OWNER = { appName: KEY.appName, userId: KEY.userId };
const DAY = 24 * 60 * 60 * 1000;

type Run = <T>(work: (store: Store) => T | Promise<T>) => Promise<T>;

interface Subject {
  /** Calls the store that a cache would call. */
  readonly run: Run;
  readonly service: SessionService;
  readonly clock: { now: number };
}

function coreOf(service: object): ServiceCore {
  return (service as { [CORE]: ServiceCore })[CORE];
}

function runOn(service: object): Run {
  return async (work) => coreOf(service).callStore({}, work);
}

function remoteOn(service: SessionService): RemoteSessionService {
  const handler = sessionHandler(service, { authorize: () => ALL_RIGHTS });
  const fetch: typeof globalThis.fetch = (input, init) => handler(new Request(input, init));
  return new RemoteSessionService({ url: 'http://localhost', fetch });
}

type Open = (clock: { now: number }) => SessionService | Promise<SessionService>;

/** Tests mutations over a service, directly and over HTTP. `openService` opens it over an empty storage. */
export function appliesOnce(name: string, openService: Open): void {
  for (const isRemote of [false, true]) {
    const open = async (): Promise<Subject> => {
      const clock = { now: 1_700_000_000_000 };
      const service = await openService(clock);
      const caller = isRemote ? remoteOn(service) : service;
      await caller.ping();
      return { run: runOn(caller), service, clock };
    };
    mutations(isRemote ? `over HTTP and ${name}` : `over ${name}`, open);
  }
  storesEachOnce(name, openService);
}

const clientOf = (index: number): string =>
  `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const mutation = (number: number, client = 1): MutationId => {
  return { client: clientOf(client), number };
};

function creation(mutation: MutationId) {
  return {
    kind: 'create' as const,
    key: KEY,
    state: '{}',
    events: [],
    delta: '{}',
    description: { title: undefined, labels: undefined, initialState: undefined },
    lastUpdateTime: undefined,
    now: 1_700_000_000_000,
    sharesState: true,
    ifAbsent: false,
    mutation,
  };
}

interface Given {
  readonly id?: string;
  readonly value: number;
  readonly created: number;
  readonly revision?: number;
  readonly sessionId?: string;
}

function appendOf(mutation: MutationId, given: Given): ReadyAppend {
  const { id = 'e1', value, created, revision = created, sessionId = KEY.sessionId } = given;
  const event = createEvent({ id, author: 'user', actions: { stateDelta: { value } } });
  return {
    kind: 'append',
    key: { ...KEY, sessionId },
    position: { kind: 'revision', created, revision },
    stale: 'merge',
    events: [
      snapshotEvent(
        event,
        () => 1_700_000_000_000,
        () => id,
      ),
    ],
    mutation,
  };
}

async function created(run: Run, number = 1): Promise<number> {
  const session = await run((store) => store.write(creation(mutation(number)), {}));
  return session!.created;
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );
  assert.ok(isSessionError(error), String(error));
  return [error.code, error.mutation];
}

function mutations(name: string, open: () => Promise<Subject>): void {
  describe(`A mutation, ${name}`, () => {
    it('is kept', async () => {
      const { run, service } = await open();
      assert.equal(await run((store) => store.traits.keepsMutations), true);
      await service.close();
    });

    it('is applied once: a doubled append answers what is stored', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const request = appendOf(mutation(2), { value: 1, created: at });
      const first = await run((store) => store.write(request, {}));
      const [place] = first.eventRevisions;
      assert.equal(place?.revision, first.revision);
      const again = await run((store) => store.write(request, {}));
      assert.equal(again.revision, first.revision);
      assert.deepEqual(again.eventRevisions, []);
      assert.deepEqual(
        again.missed.map(({ seq, revision }) => ({ seq, revision })),
        [place],
      );
      await service.close();
    });

    it('changes nothing when it is late, also after an edit', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const late = appendOf(mutation(2), { value: 1, created: at });
      await run((store) => store.write(late, {}));
      const { revision = 0 } = await service.listChanges({ ...KEY, since: 0 });
      await run((store) =>
        store.write(appendOf(mutation(3), { value: 2, created: at, revision }), {}),
      );
      const answer = await run((store) => store.write(late, {}));
      assert.equal(answer.missed.length, 1);
      assert.equal((await service.getSession(KEY))?.state.value, 2);
      // Another client's numbers are its own.
      await run((store) => store.write(appendOf(mutation(1, 2), { value: 3, created: at }), {}));
      assert.equal((await service.getSession(KEY))?.state.value, 3);
      await service.close();
    });

    it('may be overtaken: the earlier number then changes nothing', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const overtaken = appendOf(mutation(2), { value: 1, created: at });
      await run((store) =>
        store.write(appendOf(mutation(3), { value: 2, created: at, id: 'e2' }), {}),
      );
      await run((store) => store.write(overtaken, {}));
      const session = await service.getSession(KEY);
      assert.deepEqual(
        session?.events.map(({ id }) => id),
        ['e2'],
      );
      await service.close();
    });

    it('that was refused may be sent again', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const request = appendOf(mutation(2), { value: 1, created: at });
      const expectedEvents = { e1: at + 7 };
      const refused = run((store) => store.write({ ...request, expectedEvents }, {}));
      assert.deepEqual(await refusal(refused), ['stale_session', undefined]);
      await run((store) => store.write(request, {}));
      assert.equal((await service.getSession(KEY))?.state.value, 1);
      await service.close();
    });

    it('creates a session once, and none again that was deleted since', async () => {
      const { run, service } = await open();
      const at = await created(run);
      assert.equal(await created(run), at);
      await run((store) =>
        store.write({ kind: 'delete', what: 'session', key: KEY, mutation: mutation(2) }, {}),
      );
      assert.deepEqual(await refusal(created(run)), ['not_found', 'applied']);
      assert.equal(await service.getSession(KEY), undefined);
      // Also if the creation itself never arrived.
      const key = { ...KEY, sessionId: 's2' };
      const deletion = { what: 'session', key } as const;
      await run((store) => store.write({ kind: 'delete', ...deletion, mutation: mutation(9) }, {}));
      const creates = run((store) => store.write({ ...creation(mutation(8)), key }, {}));
      assert.deepEqual(await refusal(creates), ['not_found', 'applied']);
      // A later creation is another session.
      assert.ok((await created(run, 3)) > at);
      await service.close();
    });

    it('of a session that was created again by others is answered as gone', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const request = appendOf(mutation(2), { value: 1, created: at });
      await run((store) => store.write(request, {}));
      await service.deleteSession(KEY);
      assert.deepEqual(await refusal(run((store) => store.write(request, {}))), [
        'not_found',
        'applied',
      ]);
      await service.createSession(KEY);
      assert.deepEqual(await refusal(run((store) => store.write(request, {}))), [
        'not_found',
        'applied',
      ]);
      assert.deepEqual(await refusal(created(run)), ['not_found', 'applied']);
      const rename = { kind: 'describe', key: KEY, title: 'Tea', mutation: mutation(2) } as const;
      const renames = run((store) => store.write(rename, {}));
      assert.deepEqual(await refusal(renames), ['not_found', 'applied']);
      assert.deepEqual((await service.getSession(KEY))?.events, []);
      await service.close();
    });

    it('changes a title and a shared state once', async () => {
      const { run, service } = await open();
      await created(run);
      const rename = (number: number, title: string) =>
        run((store) =>
          store.write({ kind: 'describe', key: KEY, title, mutation: mutation(number) }, {}),
        );
      assert.equal(await rename(3, 'new'), true);
      assert.equal(await rename(2, 'old'), true);
      assert.equal((await service.getSession(KEY))?.title, 'new');
      const update = (number: number, value: number) =>
        run((store) =>
          store.write(
            {
              kind: 'update',
              key: OWNER,
              delta: JSON.stringify({ 'user:v': value }),
              mutation: mutation(number),
            },
            {},
          ),
        );
      await update(5, 2);
      await update(4, 1);
      assert.deepEqual(await service.getUserState(OWNER), { v: 2 });
      const remove = (number: number) =>
        run((store) =>
          store.write(
            { kind: 'delete', what: 'userState', key: OWNER, mutation: mutation(number) },
            {},
          ),
        );
      await remove(5);
      assert.deepEqual(await service.getUserState(OWNER), { v: 2 });
      await remove(6);
      assert.deepEqual(await service.getUserState(OWNER), {});
      await service.close();
    });

    it('deletes only the session that was created at its revision', async () => {
      const { run, service } = await open();
      const at = await created(run);
      const deletes = (createdRevision: number, number: number) =>
        run((store) =>
          store.write(
            {
              kind: 'delete',
              what: 'session',
              key: KEY,
              created: createdRevision,

              mutation: mutation(number),
            },
            {},
          ),
        );
      await deletes(at + 1, 2);
      assert.ok(await service.getSession(KEY));
      await deletes(at, 3);
      assert.equal(await service.getSession(KEY), undefined);
      await deletes(at, 4);
      await service.close();
    });

    it('is kept for 30 days, of 32 clients', async () => {
      const { run, service, clock } = await open();
      const at = await created(run);
      const valueOf = async () => (await service.getSession(KEY))?.state.value;
      const append = (client: number, value: number) =>
        run((store) =>
          store.write(appendOf(mutation(5, client), { value, created: at, id: `e${client}` }), {}),
        );
      for (let client = 1; client <= 32; client += 1) {
        clock.now += 1;
        await append(client, client);
      }
      clock.now += 29 * DAY;
      await append(1, -1);
      assert.equal(await valueOf(), 32);
      await append(33, 33);
      await append(1, -1);
      assert.equal(await valueOf(), -1);
      await append(3, -3);
      assert.equal(await valueOf(), -1);
      clock.now += 2 * DAY;
      await append(40, 40);
      await append(3, -3);
      assert.equal(await valueOf(), -3);
      await service.close();
    });
  });
}

function storesEachOnce(name: string, open: Open): void {
  describe(`Appends of one client to several sessions, over ${name}`, () => {
    it('are applied once when they are sent twice at the same time', async () => {
      const service = await open({ now: 1_700_000_000_000 });
      const run = runOn(remoteOn(service));
      const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`);
      const handles = await Promise.all(
        sessions.map((sessionId) => service.createSession({ ...OWNER, sessionId })),
      );
      const requests = handles.map((session, index) => {
        const revision = service.revisionOf(session)!;
        const given = { value: index, created: revision, sessionId: session.id };
        return appendOf(mutation(index + 1), given);
      });
      const answers = await Promise.all(
        [...requests, ...requests].map((request) => run((store) => store.write(request, {}))),
      );
      for (const [index, sessionId] of sessions.entries()) {
        const session = await service.getSession({ ...OWNER, sessionId });
        assert.equal(session?.events.length, 1);
        assert.equal(session.state.value, index);
        const places = [answers[index], answers[index + 20]].map(
          (answer) => answer?.eventRevisions.length,
        );
        assert.deepEqual(places.sort(), [0, 1]);
      }
      await service.close();
    });
  });
}
