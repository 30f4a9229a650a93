import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import {
  createEvent,
  InMemorySessionService,
  injectSessionState,
  type InstructionContext,
  Invocation,
  type Session,
  type SessionErrorCode,
  type State,
  Template,
} from '../../../js/index.js';
import { cpuTime } from '../cpu_time.js';
import { APP, failure, KEY, says, show, stored, texts, USER } from './fixture.js';

interface World {
  service: InMemorySessionService;
  session: Session;
}
type Row = [
  what: string,
  call: (world: World) => unknown,
  code: SessionErrorCode,
  /** The text that the message must contain. */
  names: string | RegExp,
];

const LONG = 'ü'.repeat(257); // 514 bytes
const LONE = 'a\ud800b';
const ids = [
  ['empty', '', 'empty'],
  ['too long', LONG, '512'],
  ['with half a surrogate pair', LONE, 'well-formed'],
  ['a number', 5, 'a number'],
  ['null', null, 'null'],
  ['an object', {}, 'Object'],
  ['an array', ['app'], 'an array'],
  ['a symbol', Symbol('x'), 'a symbol'],
  ['a bigint', 1n, 'BigInt'],
  ['a boxed text', new String('app'), 'String'],
] as const;

/** A value that nests so many levels. */
function nested(levels: number, kind: 'array' | 'object'): unknown {
  let value: unknown = kind === 'array' ? [] : {};
  for (let level = 1; level < levels; level += 1) value = kind === 'array' ? [value] : { a: value };
  return value;
}

function cyclic(): object {
  const value: Record<string, unknown> = { a: [] };
  (value.a as unknown[]).push(value);
  return value;
}

class Money {
  readonly amount = 5;
}

const key = (field: string, value: unknown): typeof KEY => ({ ...KEY, [field]: value });
const invalid = 'invalid_argument';

// Calls of a world, by what varies in them.
type Call = Row[1];
const creating =
  (state: unknown): Call =>
  ({ service }) =>
    service.createSession({ ...USER, sessionId: 'new', state: state as never });
const appending =
  (event: unknown): Call =>
  ({ service, session }) =>
    service.appendEvent({ session, event: event as never });
const appendingAfter =
  (event: unknown): Call =>
  ({ service, session }) =>
    service.appendEvents({ session, events: [says('x', { a: 2 }), event as never] });
const through =
  (handle: (session: Session) => unknown): Call =>
  ({ service, session }) =>
    service.appendEvent({ session: handle(session) as never, event: says('x') });
const updating =
  (request: unknown): Call =>
  ({ service }) =>
    service.updateState(request as never);
const reading =
  (config: unknown): Call =>
  ({ service }) =>
    service.getSession({ ...KEY, config: config as never });
const listing =
  (request: unknown): Call =>
  ({ service }) =>
    service.listSessions({ ...APP, ...(request as object) });
const injecting =
  (template: unknown, context?: unknown): Call =>
  ({ session }) =>
    injectSessionState(template as never, (context ?? session) as InstructionContext);

const METHODS = [
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

function* wrongIds(): Generator<Row> {
  for (const [what, id, shownAs] of ids) {
    for (const field of ['appName', 'userId']) {
      for (const method of METHODS) {
        if (field === 'userId' && method.includes('App')) continue;
        const wrong = { ...key(field, id), stateDelta: { a: 1 } };
        const names = new RegExp(`${field}.*${shownAs}`, 's');
        yield [
          `${method}: ${field} ${what}`,
          ({ service }) => service[method](wrong),
          invalid,
          names,
        ];
      }
    }
    if (what !== 'empty' && what !== 'null') {
      const wrong = key('sessionId', id);
      const call: Call = ({ service }) => service.createSession(wrong);
      yield [`createSession: sessionId ${what}`, call, invalid, 'sessionId'];
    }
    const update = updating({ ...key('sessionId', id), stateDelta: { a: 1 } });
    yield [`updateState: sessionId ${what}`, update, invalid, 'sessionId'];
    for (const field of ['id', 'appName', 'userId']) {
      const call = through((session) => ({ ...session, [field]: id }));
      yield [`appendEvent: session.${field} ${what}`, call, invalid, `session.${field}`];
    }
    if (what === 'empty') continue;
    yield [`appendEvent: event.id ${what}`, appending({ ...says('x'), id }), invalid, 'id'];
  }
}

function* wrongNumbers(): Generator<Row> {
  const fractions = [-1, Number.NaN, Infinity, -Infinity, 2 ** 53];
  const others = ['5', 5n, {}, [], true, Symbol('x')];
  for (const value of [1.5, ...fractions, ...others]) {
    const name = 'numRecentEvents';
    yield [`getSession: ${name} ${show(value)}`, reading({ [name]: value }), invalid, name];
    for (const field of ['limit', 'offset', 'page']) {
      const call = listing({ limit: 5, [field]: value });
      yield [`listSessions: ${field} ${show(value)}`, call, invalid, field];
    }
  }
  for (const value of [Number.NaN, ...others]) {
    const name = 'afterTimestamp';
    yield [`getSession: ${name} ${show(value)}`, reading({ [name]: value }), invalid, name];
  }
  for (const timestamp of [...fractions, 253402300800000, ...others]) {
    const call = appending({ ...says('x'), timestamp });
    yield [`appendEvent: timestamp ${show(timestamp)}`, call, invalid, '253402300799999'];
  }
  yield ['listSessions: page 0', listing({ limit: 5, page: 0 }), invalid, 'page'];
  yield ['listSessions: page without limit', listing({ page: 1 }), invalid, 'limit'];
  for (const order of ['up', '', null, 1, 1n, {}, Symbol('asc')]) {
    yield [`listSessions: order ${show(order)}`, listing({ order }), invalid, 'order'];
  }
}

const throws = (): never => {
  throw new Error('no');
};

const NO_JSON: [string, unknown][] = [
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['a bigint', 1n],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['a cycle', cyclic()],
  ['a Map', new Map([['a', 1]])],
  ['a Set', new Set([1])],
  ['an instance of a class', new Money()],
  ['a typed array', new Uint8Array(3)],
  ['an ArrayBuffer', new ArrayBuffer(3)],
  ['half a surrogate pair', LONE],
  ['a key with half a surrogate pair', { [LONE]: 1 }],
  ['a toJSON that gives NaN', { toJSON: () => Number.NaN }],
  ['a toJSON that throws', { toJSON: throws }],
  ['a getter that throws', Object.defineProperty({}, 'a', { get: throws, enumerable: true })],
  ['a revoked proxy', revoked()],
];
const TOO_MUCH: [string, unknown][] = [
  ['201 levels of arrays', nested(201, 'array')],
  ['201 levels of objects', nested(201, 'object')],
  ['200,000 levels of arrays', nested(200_000, 'array')],
  ['200,000 levels of objects', nested(200_000, 'object')],
  ['an array that claims four billion elements', new Array(2 ** 32 - 1)],
];

function* wrongStates(what: string, cart: unknown, path: string): Generator<Row> {
  const state = { a: 1, cart };
  const code = 'unserializable';
  const user = { ...USER, stateDelta: { 'user:a': 1, 'user:cart': cart } };
  yield [`createSession: ${what}`, creating(state), code, path];
  yield [`appendEvent: ${what} in the delta`, appending(says('x', state)), code, path];
  yield [`appendEvents: ${what} in the last delta`, appendingAfter(says('y', state)), code, path];
  yield [
    `updateState: ${what}, with a session`,
    updating({ ...KEY, stateDelta: state }),
    code,
    path,
  ];
  yield [`updateState: ${what}, without one`, updating(user), code, 'user:cart'];
}

function* wrongValues(): Generator<Row> {
  for (const [what, value] of NO_JSON) {
    yield* wrongStates(what, value, 'cart');
    const cart = { items: [0, { 'unit price': value }] };
    yield* wrongStates(`${what} within`, cart, 'cart.items[1]["unit price"]');
  }
  for (const [what, value] of TOO_MUCH) yield* wrongStates(what, value, 'cart');
  for (const [what, value] of [
    ['a bigint', 1n],
    ['a cycle', cyclic()],
    ['251 levels', nested(250, 'object')],
    ['200,000 levels', nested(200_000, 'array')],
  ] as const) {
    for (const field of ['customMetadata', 'mine', 'output']) {
      const call = appending(createEvent({ [field]: value }));
      yield [`appendEvent: ${what} in event.${field}`, call, 'unserializable', field];
    }
  }
  yield ['createSession: a broken key', creating({ [LONE]: 1 }), 'unserializable', '\\ud800'];
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object that throws whenever it is read; a text, which is no error. */
const hostile = new Proxy(
  {},
  {
    get() {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the point
      throw 'a text';
    },
  },
);

function* wrongObjects(): Generator<Row> {
  for (const request of [undefined, null, 5, 'request', Symbol('x')]) {
    for (const method of [...METHODS, 'appendEvent', 'appendEvents'] as const) {
      const call: Call = ({ service }) => service[method](request as never);
      yield [`${method}: ${show(request)}`, call, invalid, 'request'];
    }
  }
  const states = { text: 'a', number: 5, array: [1], Map: new Map(), Money: new Money(), revoked: revoked(), function: () => 1 }; // prettier-ignore
  for (const [what, state] of Object.entries(states)) {
    const actions = { ...createEvent().actions, stateDelta: state as never };
    yield [`createSession: an invalid state (${what})`, creating(state), invalid, 'state'];
    yield [`appendEvent: an invalid delta (${what})`, appending({ ...says('x'), actions }), invalid, 'stateDelta']; // prettier-ignore
  }
  const events = { undefined, null: null, number: 5, text: 'event', array: [], function: () => 1, revoked: revoked(), hostile }; // prettier-ignore
  for (const [what, event] of Object.entries(events)) {
    yield [`appendEvent: an invalid event (${what})`, appending(event), invalid, 'event'];
    yield [`appendEvents: an invalid event (${what})`, appendingAfter(event), invalid, 'event'];
  }
  for (const actions of [null, 5, 'actions', []]) {
    const call = appending({ ...says('x'), actions });
    yield [`appendEvent: actions are ${show(actions)}`, call, invalid, 'actions'];
  }
  for (const events of [undefined, null, 5, {}, 'events']) {
    const call: Call = ({ service, session }) =>
      service.appendEvents({ session, events: events as never });
    yield [`appendEvents: no array but ${show(events)}`, call, invalid, 'events'];
  }
  const sessions = { undefined, null: null, number: 5, text: 'a', object: {}, array: [], revoked: revoked(), hostile }; // prettier-ignore
  for (const [what, session] of Object.entries(sessions)) {
    yield [`appendEvent: an invalid session (${what})`, through(() => session), invalid, 'session'];
  }
  for (const field of ['state', 'events']) {
    for (const value of [undefined, null, 5, 'x', Object.freeze([])]) {
      const call = through((session) => ({ ...session, [field]: value }));
      yield [`appendEvent: session.${field} is ${show(value)}`, call, invalid, `session.${field}`];
    }
  }
}

function* wrongSessions(): Generator<Row> {
  const stateDelta = { 'app:x': 1, 'user:x': 1, x: 1 };
  const gone = { ...USER, sessionId: 'gone' };
  const never = { id: 'never', ...USER, state: {}, events: [], lastUpdateTime: 0 };
  const appendToGone: Call = async ({ service }) => {
    const session = await service.createSession(gone);
    await service.deleteSession(gone);
    return service.appendEvent({ session, event: says('x', stateDelta) });
  };
  const create: Call = ({ service }) => service.createSession({ ...KEY, state: stateDelta });
  const write: Call = (world) => {
    const { state } = new Invocation(world).readonlyContext({ agentName: 'a' });
    (state as State).set('a', 5);
  };
  yield ['createSession: the id exists', create, 'already_exists', 'session'];
  yield ['appendEvent: a session that was deleted', appendToGone, 'not_found', 'gone'];
  yield ['appendEvent: a session that never was', through(() => never), 'not_found', 'never'];
  yield ['updateState: a session that never was', updating({ ...gone, stateDelta }), 'not_found', 'gone']; // prettier-ignore
  yield ['updateState: a session key alone', updating({ ...USER, stateDelta }), invalid, '"x"'];
  yield ['updateState: a user key alone', updating({ ...APP, stateDelta: { 'user:x': 1 } }), invalid, '"user:x"']; // prettier-ignore
  yield ['updateState: a session without a user', updating({ ...KEY, userId: undefined, stateDelta }), invalid, 'userId']; // prettier-ignore
  yield ['a write to a read-only context', write, 'readonly', '"a"'];
}

function* wrongTemplates(): Generator<Row> {
  const missing = 'missing_variable';
  const inherited = ['toString', 'constructor', '__proto__', 'hasOwnProperty'];
  const many = Array.from({ length: 5000 }, (_, n) => `{missing_${n}}`).join('');
  yield ['a name that is missing', injecting('{a} {missing} {b?}'), missing, '{missing}'];
  for (const name of inherited)
    yield [`the inherited ${name}`, injecting(`{${name}}`), missing, name];
  yield ['5,000 names that are missing', injecting(many), missing, 'missing_0'];
  yield ['a name of 100,000 letters', injecting(`{${'a'.repeat(100_000)}}`), missing, 'aaa'];
  for (const name of ['artifact.a.txt', 'artifact.a.txt?']) {
    yield [
      `{${name}} and nobody to ask`,
      injecting(`{${name}}`),
      'artifact_service_missing',
      'a.txt',
    ];
  }
  const failing = { state: {}, loadArtifact: () => Promise.reject(new Error('full')) };
  const throwing = { state: {}, loadArtifact: throws };
  yield [
    'an artifact that fails',
    injecting('{artifact.a.txt}', failing),
    'storage_failed',
    'a.txt',
  ];
  yield ['an artifact that throws', injecting('{artifact.a.txt}', throwing), 'storage_failed', 'a.txt']; // prettier-ignore
  const unprintable = { state: { 'temp:f': () => 1 } };
  yield ['a temp value that is a function', injecting('{temp:f}', unprintable), 'unserializable', 'temp:f']; // prettier-ignore
  for (const template of [undefined, null, 5, {}, ['{a}'], Symbol('x')]) {
    const make: Call = () => new Template(template as never);
    yield [`injectSessionState(${show(template)})`, injecting(template), invalid, 'template'];
    yield [`new Template(${show(template)})`, make, invalid, 'template'];
  }
  for (const context of [5, {}, { state: null }, { state: 'a' }]) {
    yield [`a context ${show(context)}`, injecting('{a}', context), invalid, 'context'];
  }
}

const services: World[] = [];

/** One world for many rows: what came of one would show in the next. */
async function world(): Promise<World> {
  const [known] = services;
  if (known !== undefined) return known;
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...KEY, state: { a: 1, 'user:u': 1, 'app:p': 1 } });
  await service.appendEvent({ session, event: says('first') });
  services.push({ service, session });
  return { service, session };
}

for (const [title, rows] of [
  ['Wrong ids', wrongIds()],
  ['Wrong numbers', wrongNumbers()],
  ['Values that JSON cannot say', wrongValues()],
  ['Objects that are none', wrongObjects()],
  ['Sessions that are not there, or are', wrongSessions()],
  ['Hostile templates', wrongTemplates()],
] as const) {
  describe(title, () => {
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
  });
}

describe('Input at the limits', () => {
  it('a list returns a large limit and page as given', async () => {
    const service = new InMemorySessionService();
    const request = { appName: 'limits', limit: 1e10, page: 2e10 };
    const { limit, page, totalItems } = await service.listSessions(request);
    assert.deepEqual([limit, page, totalItems], [1e10, 2e10, 0]);
  });

  it('ids of 512 bytes, 200 levels in a state and 250 in an event are accepted', async () => {
    const service = new InMemorySessionService();
    const id = 'ü'.repeat(256);
    const state = { deep: nested(200, 'object'), list: nested(200, 'array') };
    const session = await service.createSession({ appName: id, userId: id, sessionId: id, state });
    const event = createEvent({ id, mine: nested(249, 'array'), actions: { stateDelta: state } });
    await service.appendEvent({ session, event });
    const read = await service.getSession({ appName: id, userId: id, sessionId: id });
    assert.deepEqual(read, JSON.parse(JSON.stringify(session)));
  });

  for (const sessionId of ['', ' ', LONG, LONE, 5, null, {}, undefined]) {
    it(`reading and deleting ${JSON.stringify(sessionId)?.slice(0, 20)} finds no session`, async () => {
      const service = new InMemorySessionService();
      const wrong = { ...USER, sessionId: sessionId as never };
      assert.equal(await service.getSession(wrong), undefined);
      assert.equal(service.getSessionSync(wrong), undefined);
      await service.deleteSession(wrong);
      service.deleteSessionSync(wrong);
    });
  }

  it('special keys in state, delta and event fields change no prototype', async () => {
    const service = new InMemorySessionService();
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1,"then":1,"length":-1}'; // prettier-ignore
    const hostile = JSON.parse(text) as Record<string, unknown>;
    const session = await service.createSession({ ...KEY, state: hostile });
    const event = createEvent({ ...(JSON.parse(`{"mine":${text}}`) as object) });
    event.actions.stateDelta = JSON.parse(text) as Record<string, unknown>;
    await service.appendEvent({ session, event });
    const late = structuredClone(session);
    await service.appendEvent({ session, event: says('x', JSON.parse(text) as object as never) });
    await service.appendEvent({ session: late, event: says('y') });
    for (const handle of [session, late, await stored(service)]) {
      assert.equal(JSON.stringify(handle.state), text);
      assert.equal(Object.getPrototypeOf(handle.state), Object.prototype);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.equal((Object as { polluted?: unknown }).polluted, undefined);
    const inject = injectSessionState('{length} {__proto__}', { state: session.state });
    assert.equal(await inject, '-1 {"polluted":1}');
  });
});

describe('Templates with many braces', () => {
  const shapes: [string, (n: number) => string][] = [
    ['opening', (n) => '{'.repeat(n)],
    ['closing', (n) => '}'.repeat(n)],
    ['both', (n) => '{'.repeat(n / 2) + '}'.repeat(n / 2)],
    ['pairs', (n) => '{}'.repeat(n / 2)],
    ['names without an end', (n) => '{a'.repeat(n / 2)],
    ['nested names', (n) => `${'{'.repeat(n / 2)}a${'}'.repeat(n / 2)}`],
    ['backslashes', (n) => `${'\\'.repeat(n)}{a}`],
    ['backslashes before each', (n) => '\\{'.repeat(n / 2)],
    ['optional signs', (n) => `{a${'?'.repeat(n)}}`],
    ['white space', (n) => `{${' '.repeat(n)}a`],
    ['artifacts without an end', (n) => '{artifact.'.repeat(n / 10)],
  ];
  for (const [what, make] of shapes) {
    it(`(${what}) take linear time`, () => {
      const cost = (length: number): number => {
        const text = make(length);
        const times = Array.from({ length: 5 }, () =>
          cpuTime(() => new Template(text).placeholders),
        );
        return Math.min(...times);
      };
      cost(1000);
      // Sixteen times as long: 256 times as dear if it were quadratic. The floor is for the clock's grain.
      const [short, long] = [cost(25_000), cost(400_000)];
      assert.ok(long < 100 * Math.max(short, 0.1), `${short} ms, ${long} ms`);
    });
  }

  it('report all missing names, however many', async () => {
    const template = Array.from({ length: 5000 }, (_, n) => `{missing_${n}}`).join('');
    const promise = injectSessionState(template, { state: {} });
    const error = await failure(promise, 'missing_variable');
    assert.equal(error.missing?.length, 5000);
    assert.deepEqual(error.missing.at(-1)?.name, 'missing_4999');
    assert.equal(error.missing.at(-1)?.offset, template.lastIndexOf('{'));
  });

  it('are rendered unchanged', async () => {
    const text = '{'.repeat(400_000);
    assert.equal(await injectSessionState(text, { state: { a: 1 } }), text);
  });
});

describe('After all these calls', () => {
  after(() => services.splice(0));

  it('the first service still works', async () => {
    const { service } = await world();
    assert.equal(texts(await stored(service))[0], 'first');
  });
});
