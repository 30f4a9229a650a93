import { createEvent } from '../../../../js/index.js';
import { KEY, says, USER } from '../fixture.js';
import {
  appending,
  appendingAfter,
  creating,
  LONE,
  Money,
  nested,
  refusesAll,
  revoked,
  type Row,
  throws,
  updating,
} from './rows.js';

function cyclic(): object {
  const value: Record<string, unknown> = { a: [] };
  (value.a as unknown[]).push(value);
  return value;
}

/** One of each way in which the writer refuses; `tests/js/values/json/write.test.ts` has all values. */
const NO_JSON: [string, unknown][] = [
  ['a function', () => 1],
  ['a cycle', cyclic()],
  ['an instance of a class', new Money()],
  ['a key with half a surrogate pair', { [LONE]: 1 }],
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

refusesAll('Values that JSON cannot represent', wrongValues());
