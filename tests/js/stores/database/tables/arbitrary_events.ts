// Random events from the tables of Python's models, and random events with faults.

import fc from 'fast-check';

import type { Accepted, Leaf, Model } from '../../../../../js/values/python/python_models.js';
import { PYTHON_EVENT } from '../../../../../js/values/python/python_models.js';
import { snakeName } from '../../../../../js/values/python/names.js';
import { REMOVED } from '../../../../../js/values/state/scope.js';

type JsonObject = Record<string, unknown>;

/** Keys with a meaning in JavaScript, in Python or in the package. */
const KEYS = [
  '__proto__',
  'constructor',
  'a_b',
  'aB',
  'self',
  'state',
  'message',
  'route',
  'node_path',
  'citationSources',
  'invocation_id',
  'adk_session_wasm',
  'myField',
  '1',
];
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 4 }));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', 'STOP', REMOVED),
);
const flat = fc.oneof(
  fc.constantFrom(null, true, false, 0, 0.5, 1e21, 2 ** 60, -(2 ** 53), 'AA==', 'null'),
  text,
);
const json = fc.oneof(
  flat,
  fc.array(flat, { maxLength: 2 }),
  fc.dictionary(key, fc.oneof(flat, fc.array(flat, { maxLength: 2 })), { maxKeys: 3 }),
);
const notNull = json.filter((value) => value !== null);
const record = fc.dictionary(key, json, { maxKeys: 3 });

const AUTH_CONFIGS: unknown[] = [
  'a text',
  { authScheme: { type: 'apiKey', in: 'header', name: 'x-key' }, credentialKey: 'k' },
  { auth_scheme: { type_: 'apiKey', in_: 'header', name: 'x-key' }, zz: 1 },
  {
    authScheme: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'u', scopes: {} } } },
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'c', expiresAt: 5 } },
    exchangedAuthCredential: {
      auth_type: 'http',
      http: { scheme: 'basic', credentials: { username: 'u' }, additionalHeaders: { a: 'b' } },
    },
  },
  {
    authScheme: { type: 'custom', more: [1] },
    rawAuthCredential: {
      authType: 'serviceAccount',
      serviceAccount: { useDefaultCredential: true },
    },
  },
];
const WRONG_AUTH_CONFIGS: unknown[] = [
  {},
  { authScheme: null },
  { authScheme: 5, auth_scheme: { type: 'a' } },
  { authScheme: { type: 5 } },
  { authScheme: { type: null, type_: 'a' } },
  { authScheme: { type: 'a' }, self: 1 },
  { authScheme: { type: 'a' }, credentialKey: 1 },
  { authScheme: { type: 'a' }, rawAuthCredential: {} },
  { authScheme: { type: 'a' }, rawAuthCredential: { authType: 'APIKEY' } },
  { authScheme: { type: 'a' }, rawAuthCredential: { authType: 'http', http: { scheme: 'a' } } },
  {
    authScheme: { type: 'a' },
    rawAuthCredential: { authType: 'serviceAccount', serviceAccount: { scopes: [] } },
  },
  {
    authScheme: { type: 'a' },
    rawAuthCredential: {
      authType: 'serviceAccount',
      serviceAccount: { useDefaultCredential: true, useIdToken: true },
    },
  },
  {
    authScheme: { type: 'a' },
    rawAuthCredential: { authType: 'oauth2', oauth2: { tokenEndpointAuthMethod: 'x' } },
  },
];

function leaf(kind: Leaf, isHostile: boolean): fc.Arbitrary<unknown> {
  switch (kind) {
    case 'text':
      return text;
    case 'flag':
      return fc.boolean();
    case 'integer':
      return fc.maxSafeInteger();
    case 'count':
      return fc.nat();
    case 'float':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    case 'time':
      return time;
    case 'bytes':
      return bytes;
    case 'null value':
      return fc.constant('NULL_VALUE');
    case 'data':
      return notNull;
    case 'record':
      return record;
    case 'delta':
      return isHostile
        ? record
        : record.map((delta) => withoutValue(delta, (value) => value === REMOVED));
    case 'route':
      return fc.oneof(way, fc.array(way, { maxLength: 3 }));
    case 'auth config':
      return fc.constantFrom(...AUTH_CONFIGS, ...(isHostile ? WRONG_AUTH_CONFIGS : []));
  }
}

const way = fc.oneof(fc.boolean(), fc.maxSafeInteger(), text);
const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 5 }), fc.constantFrom('base64', 'base64url'))
  .map(([value, encoding]) => Buffer.from(value).toString(encoding as BufferEncoding));

function withoutValue(object: JsonObject, isWrong: (value: unknown) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isWrong(value)));
}

function valueOf(accepted: Accepted, isHostile: boolean): fc.Arbitrary<unknown> {
  const right = rightValueOf(accepted, isHostile);
  return isHostile ? fc.oneof({ weight: 12, arbitrary: right }, json) : right;
}

function rightValueOf(accepted: Accepted, isHostile: boolean): fc.Arbitrary<unknown> {
  if (typeof accepted === 'string') return leaf(accepted, isHostile);
  if ('list' in accepted) return fc.array(valueOf(accepted.list, isHostile), { maxLength: 2 });
  if ('values' in accepted) {
    return fc.dictionary(key, valueOf(accepted.values, isHostile), { maxKeys: 2 });
  }
  return objectOf(accepted, isHostile);
}

function objectOf(model: Model, isHostile: boolean): fc.Arbitrary<JsonObject> {
  const names = [...model.members.keys()];
  const required = names.filter((name) => model.required.includes(snakeName(name)));
  const together = names.filter((name) => model.requiredTogether.includes(snakeName(name)));
  const known = fc
    // Few fields, as in a real event: with all fields at once, a failure would not show its cause.
    .subarray(names, { maxLength: Math.min(names.length, 6) })
    .map((chosen) => (isHostile ? chosen : [...new Set([...chosen, ...required])]))
    .map((chosen) =>
      isHostile || together.every((name) => chosen.includes(name))
        ? chosen
        : chosen.filter((name) => !together.includes(name)),
    )
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          chosen.map((name) => [name, valueOf(model.members.get(name)!.accepted, isHostile)]),
        ),
      ),
    )
    .map((object) => ({ ...object }));
  if (!isHostile) return known;
  const unknownKey = fc.oneof(key, fc.constantFrom(...names).map(snakeName));
  const unknownKeys = fc.dictionary(unknownKey, json, { maxKeys: 1 });
  return fc
    .tuple(known, fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, unknownKeys))
    .map(([object, more]) => Object.assign({}, more, object));
}

const time = fc.oneof(
  fc.integer({ min: 0, max: 253402300799999 }),
  fc.integer({ min: 0, max: 2 ** 33 * 1e6 }).map((microseconds) => microseconds / 1e3),
);

/** Adds the fields that every event has at the storage seam. */
function eventOf(body: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const given = fc.record({ id: fc.uuid(), timestamp: time });
  return fc.tuple(body, given).map(([event, more]) => ({ ...event, ...more }));
}

const MAPS = ['stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'];

/** Events that Python can represent completely. */
export const pythonEvents: fc.Arbitrary<JsonObject> = eventOf(
  objectOf(PYTHON_EVENT, false).map((event) => {
    const given = (event.actions ?? {}) as JsonObject;
    const actions = { ...Object.fromEntries(MAPS.map((name) => [name, {}])), ...given };
    const { nodeInfo, ...others } = event as JsonObject & { nodeInfo?: JsonObject };
    // `@google/adk` writes events without `nodeInfo`, or with a path.
    const node = nodeInfo === undefined ? {} : { nodeInfo: { ...nodeInfo, path: 'a/b' } };
    return { invocationId: '', author: 'user', ...others, ...node, actions };
  }),
);

/** Events of any JSON, most of it nearly valid. */
export const hostileEvents: fc.Arbitrary<JsonObject> = eventOf(objectOf(PYTHON_EVENT, true));

/** A value with every field, and one element in each list. */
export function valueWithAll(accepted: Accepted): unknown {
  if (typeof accepted === 'string') return LEAVES[accepted];
  if ('list' in accepted) return [valueWithAll(accepted.list)];
  if ('values' in accepted) return { key: valueWithAll(accepted.values) };
  return Object.fromEntries(
    [...accepted.members].map(([name, field]) => [name, valueWithAll(field.accepted)]),
  );
}

const LEAVES: Record<Leaf, unknown> = {
  text: 'a',
  flag: true,
  integer: 1,
  count: 1,
  float: 1.5,
  time: 1500,
  bytes: 'AA==',
  'null value': 'NULL_VALUE',
  data: { a_b: null },
  record: { a_b: null },
  delta: { a_b: null },
  route: ['a'],
  'auth config': AUTH_CONFIGS[1],
};
