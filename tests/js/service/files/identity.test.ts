import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import {
  exportSession,
  importSession,
  type SessionFile,
} from '../../../../js/service/files/index.js';
import { InMemorySessionService, State } from '../../../../js/index.js';

/** A value as JSON parses it: without −0, and with an ordinary member `__proto__`. */
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Names of fields in both casings, and similar names. */
const name = fc.constantFrom(
  'my_field', 'myField', 'My_Field', '_x', 'x_', 'a_1', 'a1', '__proto__', 'constructor', 'toString',
  'invocation_id', 'usage_metadata', 'custom_metadata', 'state_delta', 'function_call', 'args', 'startTime',
); // prettier-ignore

function objectOf<T>(
  key: fc.Arbitrary<string>,
  value: fc.Arbitrary<T>,
): fc.Arbitrary<Record<string, T>> {
  // Not fc.dictionary, of which `__proto__` may set the prototype.
  return fc
    .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries));
}

const data = objectOf(fc.oneof(name, fc.string({ unit: 'binary' })), json);
const stateKey = fc.oneof(
  fc.constantFrom('a', 'b', 'user:a', 'user:b', 'app:a', 'app:b', 'user:__proto__', '__proto__', 'my_key', 'myKey'),
  fc.string({ unit: 'binary' }).filter((key) => !key.startsWith('temp:')),
); // prettier-ignore
const state = objectOf(stateKey, json);
const delta = objectOf(stateKey, fc.oneof(json, fc.constant(State.REMOVED)));

const part = fc
  .record(
    {
      text: fc.string(),
      functionCall: fc.record({ name: fc.string(), args: data, partialArgs: fc.constant([{ jsonPath: '$' }]) }),
      functionResponse: fc.record({ name: fc.string(), response: data }),
      inlineData: fc.record({ mimeType: fc.string(), data: fc.string() }),
      partMetadata: data,
    },
    { requiredKeys: [] },
  ); // prettier-ignore

const microseconds = fc.integer({ min: 0, max: 4e15 }).map((time) => time / 1e3);

const event = fc
  .tuple(
    objectOf(name, json),
    fc.record(
      {
        invocationId: fc.string(),
        author: fc.string(),
        timestamp: microseconds,
        content: fc.record({ role: fc.constant('model'), parts: fc.array(part, { maxLength: 3 }) }),
        customMetadata: data,
        output: json.filter((value) => value !== null),
        usageMetadata: fc.record({ promptTokenCount: fc.nat(), my_count: fc.nat() }),
        longRunningToolIds: fc.array(fc.string(), { maxLength: 2 }),
      },
      { requiredKeys: ['invocationId', 'timestamp'] },
    ),
    fc.tuple(objectOf(name, json), delta),
  )
  .map(([unknown, fields, [unknownActions, stateDelta]]) => ({
    ...unknown,
    ...fields,
    actions: { ...unknownActions, stateDelta },
  }));

const file: fc.Arbitrary<SessionFile> = fc.record({
  id: fc.constant('s'),
  appName: fc.constant('a'),
  userId: fc.constant('u'),
  state,
  events: fc.array(event, { maxLength: 6 }).map((events) => [
    ...events.map((event, at) => ({ id: `e${at}`, ...event })),
    // It can carry what the others' deltas do not make of the state.
    { id: 'last', timestamp: 4e12, actions: { stateDelta: {} } },
  ]),
  lastUpdateTime: fc.integer({ min: 4e12, max: 5e12 }),
});

const key = { appName: 'a', userId: 'u', sessionId: 's' };

describe('A session that is exported, imported and exported is the same', () => {
  for (const casing of ['camel', 'snake'] as const) {
    for (const timeUnit of ['milliseconds', 'seconds'] as const) {
      it(`in ${casing} case and ${timeUnit}, order of members included`, async () => {
        const dialect = { casing, timeUnit };
        await fc.assert(
          fc.asyncProperty(file, async (file) => {
            const first = new InMemorySessionService();
            await importSession(first, file, { timeUnit: 'milliseconds' });
            const text = JSON.stringify(await exportSession(first, key, dialect));
            const second = new InMemorySessionService();
            await importSession(second, text, { timeUnit });
            assert.deepEqual(await exportSession(second, key, dialect), JSON.parse(text));
            const [one, other] = [await first.getSession(key), await second.getSession(key)];
            assert.deepEqual(other, one);
            assert.equal(JSON.stringify(other?.events), JSON.stringify(one?.events));
            // The stored data equals the file.
            const { state, events, lastUpdateTime } = fromJson(file);
            assert.deepEqual(one?.state, state);
            assert.deepEqual(one?.lastUpdateTime, lastUpdateTime);
            assert.equal(one?.events.length, events.length);
          }),
          { numRuns: 150 },
        );
      });
    }
  }
});

function fromJson(file: SessionFile): { state: object; events: unknown[]; lastUpdateTime: number } {
  return JSON.parse(JSON.stringify(file)) as ReturnType<typeof fromJson>;
}
