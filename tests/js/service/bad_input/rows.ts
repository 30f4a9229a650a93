import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  injectSessionState,
  InMemorySessionService,
  type InstructionContext,
  type Session,
  type SessionErrorCode,
} from '../../../../js/index.js';
import { APP, failure, KEY, says, stored, texts, USER } from '../fixture.js';

interface World {
  service: InMemorySessionService;
  session: Session;
}
export type Row = [
  what: string,
  call: (world: World) => unknown,
  code: SessionErrorCode,
  /** The text that the message must contain. */
  names: string | RegExp,
];

export const LONG = 'ü'.repeat(257); // 514 bytes
export const LONE = 'a\ud800b';

/** A value that nests so many levels. */
export function nested(levels: number, kind: 'array' | 'object'): unknown {
  let value: unknown = kind === 'array' ? [] : {};
  for (let level = 1; level < levels; level += 1) value = kind === 'array' ? [value] : { a: value };
  return value;
}

export class Money {
  readonly amount = 5;
}

export const invalid = 'invalid_argument';

// Calls of a world, by what varies in them.
export type Call = Row[1];
export const creating =
  (state: unknown): Call =>
  ({ service }) =>
    service.createSession({ ...USER, sessionId: 'new', state: state as never });
export const appending =
  (event: unknown): Call =>
  ({ service, session }) =>
    service.appendEvent({ session, event: event as never });
export const appendingAfter =
  (event: unknown): Call =>
  ({ service, session }) =>
    service.appendEvents({ session, events: [says('x', { a: 2 }), event as never] });
export const through =
  (handle: (session: Session) => unknown): Call =>
  ({ service, session }) =>
    service.appendEvent({ session: handle(session) as never, event: says('x') });
export const updating =
  (request: unknown): Call =>
  ({ service }) =>
    service.updateState(request as never);
export const reading =
  (config: unknown): Call =>
  ({ service }) =>
    service.getSession({ ...KEY, config: config as never });
export const listing =
  (request: unknown): Call =>
  ({ service }) =>
    service.listSessions({ ...APP, ...(request as object) });
export const injecting =
  (template: unknown, context?: unknown): Call =>
  ({ session }) =>
    injectSessionState(template as never, (context ?? session) as InstructionContext);

export const METHODS = [
  'createSession',
  'getOrCreateSession',
  'getSession',
  'listSessions',
  'deleteSession',
  'updateState',
  'getUserState',
  'getAppState',
  'deleteUser',
  'deleteUserState',
  'deleteAppState',
] as const;

export const throws = (): never => {
  throw new Error('no');
};

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

async function newWorld(): Promise<World> {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...KEY, state: { a: 1, 'user:u': 1, 'app:p': 1 } });
  await service.appendEvent({ session, event: says('first') });
  return { service, session };
}

/** Each call of the rows is refused with its code, names what is wrong, and changes nothing. */
export function refusesAll(title: string, rows: Iterable<Row>): void {
  describe(title, () => {
    // One world for many rows: what came of one would show in the next.
    let opened: Promise<World> | undefined;
    const world = (): Promise<World> => (opened ??= newWorld());
    for (const [what, call, code, names] of rows) {
      it(what, async () => {
        const known = await world();
        const { service, session } = known;
        const before = structuredClone(await stored(service));
        const { totalItems } = await service.listSessions(APP);
        const handle = structuredClone(session);

        const error = await failure(Promise.resolve(known).then(call), code);

        assert.ok(
          typeof names === 'string' ? error.message.includes(names) : names.test(error.message),
          `${error.message}\ndoes not name ${String(names)}`,
        );
        if (code === invalid) assert.equal(typeof error.key, 'string', error.message);
        if (code === 'unserializable' && typeof names === 'string' && what.endsWith(' within')) {
          assert.ok(error.path?.startsWith(names), error.path);
        }
        assert.deepEqual(await stored(service), before);
        assert.deepEqual(session, handle);
        assert.equal((await service.listSessions(APP)).totalItems, totalItems);
        const event = says(what);
        await service.appendEvent({ session, event });
        assert.equal(texts(await stored(service)).at(-1), what);
        const undo = { ...USER, sessionId: 'probe' };
        const probe = await service.createSession(undo);
        await service.appendEvent({ session: probe, event: says('x', { a: 1 }) });
        await service.deleteSession(undo);
      });
    }

    it('the service still works after all these calls', async () => {
      const { service } = await world();
      assert.equal(texts(await stored(service))[0], 'first');
    });
  });
}
