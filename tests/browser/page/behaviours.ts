// Behaviours that may differ between browsers. Each runs in the page and in its worker, and rejects if it fails.

import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  openSessionService,
  Template,
  type Event,
  type SessionErrorCode,
  type StateShape,
} from 'adk-session-wasm';
import { recommendTea, scriptedModel } from '../../../examples/tea_shop.js';

export interface Behaviour {
  name: string;
  run(): void | Promise<void>;
}

const user = { appName: 'shop', userId: 'ada' };
const key = { ...user, sessionId: 'one' };

/** Quotes and backslashes, two to four bytes of UTF-8, a right-to-left mark, and no ASCII at the ends. */
const STRANGE = 'ß"\\/:%\u0000\u001d한글👩‍👩‍👧\u200f𝒳é\u0301 __proto__ ';

function equal(actual: unknown, expected: unknown, what = 'it'): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what} is ${one}, not ${other}`);
}

async function failsWith(
  code: SessionErrorCode,
  run: () => unknown,
): Promise<Error & { path?: unknown; cause?: unknown }> {
  try {
    await run();
  } catch (error) {
    if (isSessionError(error, code)) return error;
    throw error;
  }
  throw new Error(`it did not fail with ${code}`);
}

function say(text: string, stateDelta: StateShape = {}): Event {
  const event = createEvent({ author: 'user', content: { role: 'user', parts: [{ text }] } });
  event.actions.stateDelta = stateDelta;
  return event;
}

function textOf(event: Event | undefined): unknown {
  return event?.content?.parts?.[0]?.text;
}

export const behaviours: Behaviour[] = [
  {
    name: 'a session is created, appended to, read and listed',
    async run() {
      const service = new InMemorySessionService();
      const session = await service.createSession({ ...key, state: { a: 1, 'user:b': [2] } });
      await service.appendEvent({
        session,
        event: say('hi', { a: 3, 'app:c': null, 'temp:d': 4 }),
      });
      equal(session.state, { a: 3, 'user:b': [2], 'app:c': null, 'temp:d': 4 }, 'the handle');
      const read = await service.getSession(key);
      equal(Object.entries(read?.state ?? {}).sort(), [
        ['a', 3],
        ['app:c', null],
        ['user:b', [2]],
      ]);
      equal(read?.events.map(textOf), ['hi']);
      const { sessions, totalItems } = await service.listSessions(user);
      equal([totalItems, sessions[0]?.id, sessions[0]?.events], [1, 'one', []], 'the page');
      const bare = await service.listSessions({ ...user, limit: 1, withTotal: false });
      equal([bare.totalItems, bare.sessions[0]?.id], [undefined, 'one'], 'the page without total');
    },
  },
  {
    name: 'the example of an agent loop converses, with a tool and a sub-agent',
    async run() {
      const service = new InMemorySessionService();
      const offer = await recommendTea(service, key, scriptedModel, 'Something mild');
      equal(offer, 'As asked: "Offer the guest, who likes it mild, this tea: rooibos"');
      const { state, events } = (await service.getSession(key))!;
      equal(Object.entries(state).sort(), [
        ['offer', offer],
        ['user:taste', 'mild'],
      ]);
      equal(
        events.map(({ author }) => author),
        ['user', 'host', 'host', 'host', 'writer'],
      );
    },
  },
  {
    name: 'a synchronous call works with nothing awaited before',
    run() {
      const service = new InMemorySessionService();
      service.createSessionSync(key);
      equal(service.getSessionSync(key)?.events, []);
    },
  },
  {
    name: 'ids and keys of any characters reach their own data only',
    async run() {
      const service = new InMemorySessionService();
      const ids = [
        STRANGE,
        STRANGE.normalize('NFD'),
        STRANGE.normalize('NFC'),
        `${STRANGE} `,
        '__proto__',
      ];
      for (const sessionId of new Set(ids)) {
        const request = {
          appName: STRANGE,
          userId: STRANGE,
          sessionId,
          state: { [sessionId]: sessionId },
        };
        await service.createSession(request);
      }
      for (const sessionId of new Set(ids)) {
        const read = await service.getSession({ appName: STRANGE, userId: STRANGE, sessionId });
        equal(Object.entries(read?.state ?? {}), [[sessionId, sessionId]], 'the state');
      }
    },
  },
  {
    name: 'texts of any length and characters come back as they were',
    async run() {
      const service = new InMemorySessionService();
      const session = await service.createSession(key);
      const pieces = ['a', 'é', '한', '👋', STRANGE, '\u2028\u2029\ufeff\uffff'];
      // Around the lengths at which strings are copied to wasm in other ways.
      const lengths = [0, 1, 31, 32, 33, 100, 4095, 65_537];
      const texts = pieces.flatMap((piece) => lengths.map((length) => piece.repeat(length)));
      texts.push(`${'a'.repeat(40)}é`, `é${'a'.repeat(40)}`);
      for (const text of texts) await service.appendEvent({ session, event: say(text, { text }) });
      const read = await service.getSession(key);
      const differs = texts.findIndex((text, index) => text !== textOf(read?.events[index]));
      equal(differs, -1, 'the first text that differs');
      equal(read?.state.text, texts.at(-1), 'the state');
    },
  },
  {
    name: 'lone surrogates are refused in state and ids, and replaced in texts',
    async run() {
      const service = new InMemorySessionService();
      const session = await service.createSession(key);
      const lone = 'a\ud83d';
      const error = await failsWith('unserializable', () =>
        service.appendEvent({ session, event: say('hi', { cart: { items: ['x', lone] } }) }),
      );
      equal(error.path, 'cart.items[1]', 'the path');
      await failsWith('invalid_argument', () =>
        service.createSession({ ...user, sessionId: lone }),
      );
      await service.appendEvent({ session, event: say(lone) });
      equal(textOf((await service.getSession(key))?.events.at(-1)), 'a\ufffd');
    },
  },
  {
    name: 'numbers come back as they were',
    async run() {
      const numbers = [
        0,
        -1,
        0.1 + 0.2,
        5e-324,
        1.7976931348623157e308,
        1e21,
        2 ** 53 - 1,
        123456789.000001,
      ];
      const service = new InMemorySessionService();
      await service.createSession({ ...key, state: { numbers, negativeZero: -0 } });
      const { state } = (await service.getSession(key))!;
      equal(state.numbers, numbers);
      equal(Object.is(state.negativeZero, 0), true, 'that -0 became 0');
      for (const bad of [NaN, Infinity, 1n]) {
        await failsWith('unserializable', () => service.createSession({ ...user, state: { bad } }));
      }
    },
  },
  {
    name: 'keys like __proto__ are ordinary, and in their order',
    async run() {
      const state = JSON.parse('{"z":1,"__proto__":{"x":1},"constructor":2,"a":3}') as StateShape;
      const service = new InMemorySessionService();
      await service.createSession({ ...key, state });
      const read = (await service.getSession(key))!.state;
      equal(Object.keys(read), ['z', '__proto__', 'constructor', 'a'], 'the keys');
      equal(read.x, undefined, 'what is inherited');
    },
  },
  {
    name: 'nesting is limited by our rule and not by the stack',
    async run() {
      const nested = (levels: number): unknown => {
        let value: unknown = 1;
        for (let level = 0; level < levels; level += 1) value = [value];
        return value;
      };
      const service = new InMemorySessionService();
      await service.createSession({ ...key, state: { deep: nested(200) } });
      for (const levels of [201, 100_000]) {
        const state = { deep: nested(levels) };
        await failsWith('unserializable', () => service.createSession({ ...user, state }));
      }
    },
  },
  {
    name: 'long histories survive the growing of the wasm memory',
    async run() {
      const service = new InMemorySessionService();
      const session = await service.createSession(key);
      const events = Array.from({ length: 3000 }, (_, number) =>
        say(`${number} ${'é'.repeat(800)}`),
      );
      await service.appendEvents({ session, events: events.slice(0, 1000) });
      for (const event of events.slice(1000)) await service.appendEvent({ session, event });
      const read = await service.getSession(key);
      equal(
        read?.events.map(({ id }) => id),
        events.map(({ id }) => id),
      );
      const { events: last = [] } =
        (await service.getSession({ ...key, config: { numRecentEvents: 2 } })) ?? {};
      equal(last.map(textOf), events.slice(-2).map(textOf));
    },
  },
  {
    name: 'many appends at once through one handle are stored in their order',
    async run() {
      const service = new InMemorySessionService();
      const session = await service.createSession(key);
      const events = Array.from({ length: 50 }, (_, number) => say(String(number)));
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      equal((await service.getSession(key))?.events.map(textOf), events.map(textOf));
    },
  },
  {
    name: 'a handle that was cloned is known by its last event',
    async run() {
      const service = await openSessionService({ storage: 'memory', stale: 'reject' });
      const session = await service.createSession(key);
      await service.appendEvent({ session, event: say('one') });
      const clone = structuredClone(session);
      await service.appendEvent({ session: clone, event: say('two') });
      await failsWith('stale_session', () => service.appendEvent({ session, event: say('three') }));
    },
  },
  {
    name: 'errors are errors, with their code, cause and JSON',
    async run() {
      const service = new InMemorySessionService();
      await service.createSession(key);
      const error = await failsWith('already_exists', () => service.createSession(key));
      equal([error instanceof Error, error.name], [true, 'SessionError']);
      equal((JSON.parse(JSON.stringify(error)) as { code: string }).code, 'already_exists');
      const reason = new Error('enough');
      const aborted = await failsWith('aborted', () =>
        service.createSession({ ...user, signal: AbortSignal.abort(reason) }),
      );
      equal(aborted.cause === reason, true, 'that the cause is the reason');
    },
  },
  {
    name: 'templates find names of any script, and say where missing ones stand',
    async run() {
      const state = {
        이름: '지민',
        变量: 1,
        naïve: { a: [true] },
        'user:имя': null,
        ident1fier_: 'x',
      };
      const text =
        '👋 {이름} { 变量 } {naïve} {user:имя}| {ident1fier_} {1a} {a-b} {{이름}} \\{이름} {x?}';
      const printed = '👋 지민 1 {"a":[true]} | x {1a} {a-b} {{이름}} {이름} ';
      equal(await new Template(text).render({ state }), printed);
      const error = await failsWith('missing_variable', () =>
        new Template('👋👋 {имена}').render({ state: { имя: 1 } }),
      );
      const { missing } = error as unknown as { missing: { name: string; offset: number }[] };
      equal(
        missing.map(({ name, offset }) => [name, offset]),
        [['имена', 5]],
      );
    },
  },
  {
    name: 'close works, also where Symbol.asyncDispose does not exist',
    async run() {
      const service = new InMemorySessionService();
      await service.createSession(key);
      if (typeof Symbol.asyncDispose === 'symbol') {
        await service[Symbol.asyncDispose]();
      } else {
        // A method whose name is no symbol would get this name.
        equal('undefined' in service, false, "that there is a method 'undefined'");
        await service.close();
      }
      await failsWith('closed', () => service.getSession(key));
      await service.close();
    },
  },
  {
    name: 'ids are made where crypto.randomUUID is missing, as on pages without https',
    async run() {
      const own = Object.getOwnPropertyDescriptor(crypto, 'randomUUID');
      Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
      try {
        const { id } = await new InMemorySessionService().createSession(user);
        equal(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
          true,
          id,
        );
      } finally {
        Reflect.deleteProperty(crypto, 'randomUUID');
        if (own) Object.defineProperty(crypto, 'randomUUID', own);
      }
    },
  },
  {
    name: 'plain objects of another realm are plain',
    async run() {
      // A worker has no other realm at hand.
      if (typeof document === 'undefined') return;
      const frame = document.body.appendChild(document.createElement('iframe'));
      const other = frame.contentWindow as unknown as { JSON: typeof JSON; Map: MapConstructor };
      const state = other.JSON.parse('{"a":{"b":[1]}}') as StateShape;
      const service = new InMemorySessionService();
      await service.createSession({ ...key, state });
      equal((await service.getSession(key))?.state, { a: { b: [1] } });
      await failsWith('unserializable', () =>
        service.createSession({ ...user, state: { a: new other.Map() } }),
      );
      frame.remove();
    },
  },
];
