import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';

import type { Event, EventActions } from '../../../../../js/values/model/event/event.js';
import { applySnapshot } from '../../../../../js/values/model/event/snapshot.js';
import { snapshotDelta } from '../../../../../js/values/state/delta.js';
import { jsonValue, oddValue } from '../../json/values.js';
import { complete, refused, snapshotOf, textOf, withDelta } from './snapshots.js';
import { cases } from '../../../../properties.js';

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
    cases(),
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

test('the text does not change with the event', () => {
  const event = withDelta({ a: { b: 1 } });
  const { text } = snapshotOf(event);
  event.actions.stateDelta.a = 2;
  assert.match(text, /"stateDelta":\{"a":\{"b":1\}\}/);
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

test('content with toJSON is stored as its result, which must be content', () => {
  const said = (content: unknown) => snapshotOf(complete({ author: 'a', content }));
  const stored = (content: unknown) => (textOf(said(content)) as { content?: unknown }).content;
  const parts = [{ text: 'Tea?' }];
  assert.deepEqual(stored({ toJSON: () => ({ parts }) }), { parts });
  assert.deepEqual(stored({ toJSON: () => 'Tea?' }), { role: 'model', parts });
  assert.equal(stored({ toJSON: () => undefined }), undefined);
  assert.equal(stored({ toJSON: () => null }), null);
  // The result is printed as it is.
  assert.deepEqual(stored({ toJSON: () => ({ parts, toJSON: () => 5 }) }), { parts });
  for (const result of [5, true, parts, new String('Tea?')]) {
    assert.throws(() => said({ toJSON: () => result }), refused('invalid_argument'));
  }
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
