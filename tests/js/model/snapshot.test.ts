import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import fc from 'fast-check';
import { isSessionError, type SessionErrorCode } from '../../../js/errors/errors.js';
import { createEvent, type Event, type EventActions } from '../../../js/model/event.js';
import { REMOVED } from '../../../js/state/scope.js';
import {
  applySnapshot,
  MAX_TIMESTAMP,
  snapshotDelta,
  snapshotEvent,
  snapshotState,
  type EventSnapshot,
} from '../../../js/model/snapshot.js';
import { explosive, jsonValue, nested, oddValue, revokedProxy } from '../json/values.js';

const NOW = 1795155122530;

function snapshotOf(event: unknown): EventSnapshot {
  return snapshotEvent(
    event as Event,
    () => NOW,
    () => 'new-id',
  );
}

function refused(code: SessionErrorCode, path?: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isSessionError(error, code), String(error));
    if (path !== undefined) assert.equal(error.path, path);
    return true;
  };
}

/** A complete event, with the fields of `more`. */
function complete(more: object = {}): Event {
  return { ...createEvent({ id: 'e1', author: 'a', timestamp: 5 }), ...more };
}

function withDelta(stateDelta: unknown): Event {
  return complete({ actions: { stateDelta } });
}

function textOf(snapshot: { readonly text: string }): Record<string, unknown> {
  return JSON.parse(snapshot.text) as Record<string, unknown>;
}

test('the text of a complete event is that of JSON.stringify', () => {
  const event = complete({ custom: { a: [1] }, actions: { stateDelta: { k: 1 }, escalate: true } });
  const snapshot = snapshotOf(event);
  assert.equal(snapshot.text, JSON.stringify(event));
  assert.equal(snapshot.deltaText, '{"k":1}');
  assert.deepEqual([snapshot.id, snapshot.timestamp, snapshot.temp], ['e1', 5, undefined]);
});

test('the text of any event is that of JSON.stringify', () => {
  const keys = fc.string({ maxLength: 5 }).filter((key) => key !== 'toJSON' && key !== 'actions');
  fc.assert(
    fc.property(fc.dictionary(keys, oddValue), fc.dictionary(keys, jsonValue), (fields, delta) => {
      fc.pre(!JSON.stringify(fields).includes('\\ud') && !JSON.stringify(delta).includes('\\ud'));
      const event = { ...fields, id: 'e1', timestamp: 5, actions: { stateDelta: delta, x: 1 } };
      const snapshot = snapshotOf(event);
      assert.equal(snapshot.text, JSON.stringify(event));
      assert.equal(snapshot.deltaText, JSON.stringify(delta));
    }),
    { numRuns: 500 },
  );
});

test("the delta in the text is the delta's own text, beside members of the same name too", () => {
  const events = [
    complete({ stateDelta: 0, actions: { stateDelta: { a: 1 } } }),
    complete({ content: { parts: [{ functionCall: { args: { stateDelta: 0 } } }] } }),
    complete({ actions: { 'x"stateDelta': 0, artifactDelta: 0, stateDelta: { b: 2 } } }),
    complete({ text: '"stateDelta":0', actions: { stateDelta: { stateDelta: 0 } } }),
  ];
  for (const event of events) assert.equal(snapshotOf(event).text, JSON.stringify(event));
});

test('temp: keys are in neither text nor delta, and are never read', () => {
  const socket = { send: () => 1, big: 1n, self: revokedProxy({}) };
  const snapshot = snapshotOf(withDelta({ a: 1, 'temp:socket': socket, 'temp:none': undefined }));
  assert.equal(snapshot.deltaText, '{"a":1}');
  assert.deepEqual(Object.keys(snapshot.temp ?? {}), ['temp:socket', 'temp:none']);
  assert.equal(snapshot.temp?.['temp:socket'], socket);
  assert.deepEqual(textOf(snapshot).actions, { stateDelta: { a: 1 } });
});

test('a top-level undefined is a removal, like REMOVED', () => {
  const snapshot = snapshotOf(withDelta({ a: undefined, b: REMOVED, c: null }));
  assert.deepEqual(snapshot.delta, { a: REMOVED, b: REMOVED, c: null });
  assert.deepEqual(JSON.parse(snapshot.deltaText), snapshot.delta);
});

test('a toJSON that returns undefined is a removal', () => {
  const value = { toJSON: () => undefined };
  assert.deepEqual(snapshotDelta({ a: value }).delta, { a: REMOVED });
  assert.deepEqual(snapshotState({ a: value }).values, { a: REMOVED });
});

test('plain values are in the delta by reference, others as their JSON', () => {
  const plain = { items: [1] };
  const odd = { a: undefined, at: new Date(0), list: [undefined, -0] };
  const { delta, text } = snapshotDelta({ plain, odd, zero: -0 });
  assert.equal(delta.plain, plain);
  assert.deepEqual(delta.odd, { at: '1970-01-01T00:00:00.000Z', list: [null, 0] });
  assert.ok(Object.is(delta.zero, 0));
  assert.deepEqual(JSON.parse(text), delta);
});

test('the delta parsed from its text equals the delta', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 4 }), oddValue), (given) => {
      let snapshot;
      try {
        snapshot = snapshotDelta(given);
      } catch (error) {
        assert.ok(refused('unserializable')(error));
        return;
      }
      assert.deepEqual(JSON.parse(snapshot.text), structuredClone(snapshot.delta));
      assert.equal(Object.getPrototypeOf(snapshot.delta), Object.prototype);
    }),
    { numRuns: 1000 },
  );
});

test('the caller’s delta is never changed', () => {
  const delta = Object.freeze({ a: { b: undefined }, 'temp:x': 1, gone: undefined });
  const event = withDelta(delta);
  applySnapshot(event, snapshotOf(event));
  assert.deepEqual(delta, { a: { b: undefined }, 'temp:x': 1, gone: undefined });
  assert.notEqual(event.actions.stateDelta, delta);
});

test('a delta value that JSON cannot represent is refused with its path; the event is unchanged', () => {
  const event = { actions: { stateDelta: { cart: { items: [0, 1, 2, { price: NaN }] } } } };
  assert.throws(() => snapshotOf(event), refused('unserializable', 'cart.items[3].price'));
  assert.deepEqual(Object.keys(event), ['actions']);
});

test('another event field that JSON cannot represent is refused with its path in the event', () => {
  const event = complete({ content: { parts: [{ functionCall: { args: { n: 1n } } }] } });
  assert.throws(
    () => snapshotOf(event),
    refused('unserializable', 'content.parts[0].functionCall.args.n'),
  );
  const actions = { stateDelta: {}, agentState: { n: 1n } };
  assert.throws(
    () => snapshotOf(complete({ actions })),
    refused('unserializable', 'actions.agentState.n'),
  );
});

test('event fields follow JSON.stringify: instances, toJSON, NaN, undefined', () => {
  class Blob {
    data = 'x';
  }
  const output = { blob: new Blob(), at: new Date(0), nan: NaN, none: undefined, f: () => 1 };
  const text = '{"blob":{"data":"x"},"at":"1970-01-01T00:00:00.000Z","nan":null}';
  assert.equal(JSON.stringify(textOf(snapshotOf(complete({ output }))).output), text);
});

test('lone surrogates in event fields become U+FFFD, beside a delta with their escapes', () => {
  const event = complete({ 'a\ud800': 'b\udfff', actions: { stateDelta: { k: '\\ud800' } } });
  const stored = textOf(snapshotOf(event));
  assert.equal(stored['a\ufffd'], 'b\ufffd');
  assert.deepEqual(stored.actions, { stateDelta: { k: '\\ud800' } });
});

test('a missing id and timestamp are filled in, on the event too', () => {
  const event: Record<string, unknown> = { author: 'a' };
  const snapshot = snapshotOf(event);
  assert.deepEqual([snapshot.id, snapshot.timestamp], ['new-id', NOW]);
  assert.deepEqual(event, { author: 'a', id: 'new-id', timestamp: NOW });
  assert.deepEqual(Object.keys(textOf(snapshot)), ['author', 'id', 'timestamp', 'actions']);
});

test('an empty id is filled in at its position', () => {
  const event = { id: '', author: 'a', timestamp: undefined };
  snapshotOf(event);
  assert.deepEqual(Object.entries(event), [
    ['id', 'new-id'],
    ['author', 'a'],
    ['timestamp', NOW],
  ]);
});

test("a clock's fraction is cut off, a given one is kept", () => {
  const event = { ...complete(), timestamp: undefined } as unknown as Event;
  assert.equal(
    snapshotEvent(
      event,
      () => 5.75,
      () => 'x',
    ).timestamp,
    5,
  );
  assert.equal(textOf(snapshotOf(complete({ timestamp: 5.25 }))).timestamp, 5.25);
});

/** Events of all degrees of completeness: each makes a new one. */
const incomplete: readonly (readonly [string, () => Record<string, unknown>])[] = [
  ['nothing', () => ({})],
  ['only content', () => ({ content: { parts: [{ text: 'x' }] } })],
  ['empty actions', () => ({ actions: {}, author: 'a' })],
  ['actions that are undefined', () => ({ author: 'a', actions: undefined, branch: 'b' })],
  ['a delta that is undefined', () => ({ actions: { stateDelta: undefined, escalate: true } })],
  ['an empty id', () => ({ id: '', actions: { stateDelta: {} } })],
  [
    'a delta with everything',
    () => ({
      actions: {
        x: 1,
        stateDelta: {
          at: new Date(0),
          gone: undefined,
          'temp:t': 1,
          nested: { a: undefined, b: [undefined], c: -0 },
          ['__proto__']: { y: 1 },
          2: 'two',
        },
        artifactDelta: {},
      },
      author: 'a',
    }),
  ],
  ['inherited fields', () => Object.create({ id: 'i1', timestamp: 7 }) as Record<string, unknown>],
];

for (const [name, make] of incomplete) {
  test(`with ${name}, a retry after a failure gives the same text`, () => {
    const event = make();
    const { text } = snapshotOf(event);
    assert.equal(snapshotOf(event).text, text);
  });

  test(`with ${name}, a retry after a success gives the same text`, () => {
    const event = make();
    const snapshot = snapshotOf(event);
    applySnapshot(event as unknown as Event, snapshot);
    assert.equal(snapshotOf(event).text, snapshot.text);
    assert.equal(snapshotOf(event).deltaText, snapshot.deltaText);
    assert.equal((event.actions as EventActions).stateDelta, snapshot.delta);
  });

  test(`with ${name}, copied actions give the same text`, () => {
    const event = make();
    const snapshot = snapshotOf(event);
    event.actions = { ...snapshot.actions, stateDelta: snapshot.delta };
    assert.equal(snapshotOf(event).text, snapshot.text);
  });
}

test('applySnapshot sets missing actions, and keeps existing ones', () => {
  const bare = { id: 'e1', timestamp: 1 } as unknown as Event;
  applySnapshot(bare, snapshotOf(bare));
  assert.deepEqual(bare.actions, createEvent().actions);
  const event = withDelta({ a: 1, 'temp:b': 2 });
  const { actions } = event;
  applySnapshot(event, snapshotOf(event));
  assert.equal(event.actions, actions);
  assert.deepEqual(actions.stateDelta, { a: 1 });
});

test('applySnapshot does not throw when the event was frozen in the meantime', () => {
  const event = withDelta({ a: 1, 'temp:b': 2 });
  const snapshot = snapshotOf(event);
  Object.freeze(event.actions);
  applySnapshot(event, snapshot);
});

test('the text does not change with the event', () => {
  const event = withDelta({ a: { b: 1 } });
  const { text } = snapshotOf(event);
  event.actions.stateDelta.a = 2;
  assert.match(text, /"stateDelta":\{"a":\{"b":1\}\}/);
});

const wrong: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['undefined', undefined],
  ['a string', 'event'],
  ['an array', []],
  ['a function', () => 1],
  ['an id that is a number', complete({ id: 5 })],
  ['an id that is null', complete({ id: null })],
  ['an id with a lone surrogate', complete({ id: 'a\ud800' })],
  ['an id of 513 bytes', complete({ id: 'é'.repeat(256) + 'x' })],
  ['a timestamp of NaN', complete({ timestamp: NaN })],
  ['a timestamp before 1970', complete({ timestamp: -1 })],
  ['a timestamp after 9999', complete({ timestamp: MAX_TIMESTAMP + 1 })],
  ['a timestamp that is text', complete({ timestamp: '5' })],
  ['a timestamp that is null', complete({ timestamp: null })],
  ['actions that are null', complete({ actions: null })],
  ['actions that are a string', complete({ actions: 'x' })],
  ['actions that are an array', complete({ actions: [] })],
  ['a delta that is null', withDelta(null)],
  ['a delta that is an array', withDelta([])],
  ['a delta that is a Map', withDelta(new Map())],
  ['a delta that is a revoked proxy', withDelta(revokedProxy({}))],
  ['a revoked proxy', revokedProxy({})],
  [
    'a getter that throws',
    complete({
      actions: {
        get stateDelta() {
          throw new Error('x');
        },
      },
    }),
  ],
];

for (const [name, event] of wrong) {
  test(`${name} is an invalid argument`, () => {
    assert.throws(() => snapshotOf(event), refused('invalid_argument'));
  });
}

test('ids of 512 bytes and the first and last timestamp are accepted', () => {
  assert.equal(snapshotOf(complete({ id: 'é'.repeat(256) })).id, 'é'.repeat(256));
  assert.equal(snapshotOf(complete({ timestamp: 0 })).timestamp, 0);
  assert.equal(snapshotOf(complete({ timestamp: MAX_TIMESTAMP })).timestamp, MAX_TIMESTAMP);
  assert.ok(Object.is(snapshotOf(complete({ timestamp: -0 })).timestamp, 0));
});

const unwritable: readonly (readonly [string, () => object])[] = [
  ['without id', () => Object.freeze({ timestamp: 1, actions: { stateDelta: {} } })],
  ['without timestamp', () => Object.preventExtensions({ id: 'e', actions: { stateDelta: {} } })],
  ['without actions', () => Object.preventExtensions({ id: 'e', timestamp: 1 })],
  ['with frozen actions', () => complete({ actions: Object.freeze({ stateDelta: {} }) })],
  ['with sealed actions without delta', () => complete({ actions: Object.seal({}) })],
  [
    'with a delta that is a getter',
    () =>
      complete({
        actions: {
          get stateDelta() {
            return {};
          },
        },
      }),
  ],
  [
    'with a read-only empty id',
    () => Object.defineProperty(complete(), 'id', { value: '', writable: false }),
  ],
];

for (const [name, make] of unwritable) {
  test(`an event that cannot be filled in, ${name}, is refused and unchanged`, () => {
    const event = make();
    const before = JSON.stringify(event);
    assert.throws(() => snapshotOf(event), refused('invalid_argument'));
    assert.equal(JSON.stringify(event), before);
  });
}

test('a frozen event with all fields and its own actions is accepted', () => {
  const event = Object.freeze(withDelta({ a: 1, 'temp:b': 1 }));
  applySnapshot(event, snapshotOf(event));
  assert.deepEqual(event.actions.stateDelta, { a: 1 });
});

test('inherited getters are overridden, not assigned to', () => {
  class Lazy {
    author = 'a';
    get actions(): undefined {
      return undefined;
    }
  }
  const event = new Lazy();
  applySnapshot(event as unknown as Event, snapshotOf(event));
  assert.deepEqual(Object.keys(event), ['author', 'id', 'timestamp', 'actions']);
});

test('an event or actions with toJSON are stored as its result, completed', () => {
  const event = {
    id: 'e1',
    timestamp: 1,
    secret: 1,
    actions: { stateDelta: { a: 1, 'temp:b': 2 }, toJSON: () => ({ shown: true }) },
    toJSON: () => ({ author: 'a' }),
  };
  const actions = { shown: true, stateDelta: { a: 1 } };
  assert.deepEqual(textOf(snapshotOf(event)), { author: 'a', id: 'e1', timestamp: 1, actions });
  const nothing = complete({ toJSON: () => null });
  assert.throws(() => snapshotOf(nothing), refused('invalid_argument'));
});

test('a toJSON on Object.prototype is honoured, and breaks nothing', (t) => {
  const event = withDelta({ a: { b: 1 }, c: 2 });
  const toJSON = function (this: object): object {
    return Object.assign(Object.create(null) as object, this);
  };
  Object.defineProperty(Object.prototype, 'toJSON', { value: toJSON, configurable: true });
  t.after(() => Reflect.deleteProperty(Object.prototype, 'toJSON'));
  const snapshot = snapshotOf(event);
  assert.equal(snapshot.deltaText, '{"a":{"b":1},"c":2}');
  assert.deepEqual(textOf(snapshot).actions, { stateDelta: { a: { b: 1 }, c: 2 } });
  assert.deepEqual(textOf(snapshotOf({})).actions, createEvent().actions);
});

test('a getter with changing results cannot make text and delta differ', () => {
  let count = 0;
  const value = {
    get n() {
      return ++count;
    },
  };
  const snapshot = snapshotOf(withDelta({ value }));
  assert.ok(snapshot.text.includes(`"stateDelta":${snapshot.deltaText}`));
});

test('a getter that returns a BigInt at the second read is refused', () => {
  let count = 0;
  const value = {
    get n() {
      return count++ === 0 ? 1 : 1n;
    },
  };
  assert.throws(() => snapshotDelta({ value }), refused('unserializable', 'value.n'));
  count = 0;
  assert.throws(
    () => snapshotOf(complete({ output: value })),
    refused('unserializable', 'output.n'),
  );
});

test('__proto__ and similar names are ordinary delta keys', () => {
  const text = '{"__proto__":{"polluted":1},"constructor":2,"toJSON":3,"":4}';
  const snapshot = snapshotDelta(JSON.parse(text));
  assert.equal(snapshot.text, text);
  assert.deepEqual(Object.keys(snapshot.delta), ['__proto__', 'constructor', 'toJSON', '']);
  assert.equal(Object.getPrototypeOf(snapshot.delta), Object.prototype);
  assert.equal(snapshotDelta(JSON.parse('{"__proto__":[null]}')).text, '{"__proto__":[null]}');
});

test('a delta key with a lone surrogate is refused', () => {
  assert.throws(() => snapshotDelta({ 'a\ud800': 1 }), refused('unserializable', '["a\\ud800"]'));
});

test('a getter of a delta that throws is named in the error', () => {
  const delta = {
    get a(): number {
      throw new Error('lazy');
    },
  };
  assert.throws(() => snapshotDelta(delta), refused('unserializable', 'a'));
});

test('deltas of another realm and without prototype are accepted', () => {
  assert.equal(snapshotDelta(vm.runInNewContext('({ a: { b: [1] } })')).text, '{"a":{"b":[1]}}');
  assert.equal(
    snapshotDelta(Object.assign(Object.create(null) as object, { a: 1 })).text,
    '{"a":1}',
  );
});

test('a missing delta is an empty one', () => {
  assert.deepEqual(snapshotDelta(undefined), {
    text: '{}',
    delta: {},
    hasObjects: false,
    temp: undefined,
  });
});

test('an initial state loses temp: keys, and keeps removals, which may apply to stored user: keys', () => {
  const state = { a: 1, 'user:b': undefined, 'temp:d': () => 1, 'user:e': null };
  const snapshot = snapshotState(state);
  assert.equal(snapshot.text, `{"a":1,"user:b":"${REMOVED}","user:e":null}`);
  assert.deepEqual(snapshot.values, { a: 1, 'user:b': REMOVED, 'user:e': null });
  assert.deepEqual(Object.keys(snapshot.temp ?? {}), ['temp:d']);
});

test('an initial state that is not a plain object is an invalid argument', () => {
  for (const state of [null, [], 'x', new Map(), () => 1]) {
    assert.throws(() => snapshotState(state), refused('invalid_argument'));
  }
  assert.deepEqual(snapshotState(undefined).values, {});
});

test('a state value of 200 levels is accepted, one of 201 is not', () => {
  snapshotOf(withDelta({ deep: nested(200) }));
  assert.throws(() => snapshotOf(withDelta({ deep: nested(201) })), refused('unserializable'));
});

test('an event of 250 levels is accepted, one of 251 or a million is not', () => {
  snapshotOf(complete({ output: nested(249) }));
  for (const levels of [250, 1_000_000]) {
    assert.throws(
      () => snapshotOf(complete({ output: nested(levels) })),
      refused('unserializable'),
    );
  }
});

test('an event with too many values is refused', () => {
  assert.throws(() => snapshotDelta({ a: explosive() }), refused('unserializable', 'a'));
  assert.throws(() => snapshotOf(complete({ output: explosive() })), refused('unserializable'));
  const sparse = new Array(2 ** 32 - 1);
  assert.throws(() => snapshotState({ a: sparse }), refused('unserializable', 'a'));
});

test("text longer than the engine's limit is refused", (t) => {
  // The real thing takes a gigabyte and some seconds.
  const thrown = new RangeError('Invalid string length');
  t.mock.method(JSON, 'stringify', () => {
    throw thrown;
  });
  assert.throws(
    () => snapshotOf(complete()),
    (error) => {
      t.mock.restoreAll();
      assert.ok(isSessionError(error, 'quota_exceeded'));
      return error.cause === thrown;
    },
  );
});
