import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as adk from '@google/adk';
import fc from 'fast-check';
import {
  createEvent,
  createEventActions,
  newEventId,
} from '../../../../js/values/model/event/create_event.js';
import {
  finalResponseText,
  isFinalResponse,
} from '../../../../js/values/model/event/final_response.js';
import type { Event, EventActions } from '../../../../js/values/model/event/event.js';
import type { Part } from '../../../../js/values/model/event/content.js';
import { cases } from '../../../properties.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('our event types and those of @google/adk are assignable both ways', () => {
  const toOurs = (event: adk.Event): Event => event;
  const toTheirs = (event: Event): adk.Event => event;
  const actionsToOurs = (actions: adk.EventActions): EventActions => actions;
  const actionsToTheirs = (actions: EventActions): adk.EventActions => actions;
  const event = adk.createEvent({ author: 'a' });
  assert.equal(toTheirs(toOurs(event)), event);
  assert.equal(actionsToTheirs(actionsToOurs(event.actions)), event.actions);
  assert.equal(createEvent(event).id, event.id);
});

test('createEvent keeps additional fields, and refuses wrong types', () => {
  const event = createEvent({ author: 'a', colour: 'red' });
  const colour: string = event.colour;
  assert.equal(colour, 'red');
  // @ts-expect-error a timestamp is a number
  createEvent({ timestamp: 'now' });
});

test('createEvent fills id, invocation id, timestamp and actions', () => {
  const before = Date.now();
  const event = createEvent();
  assert.match(event.id, UUID_V4);
  assert.equal(event.invocationId, '');
  assert.ok(event.timestamp >= before && event.timestamp <= Date.now());
  assert.deepEqual(event.actions, {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
  });
  assert.deepEqual(Object.keys(event), ['id', 'invocationId', 'actions', 'timestamp']);
});

test('createEvent fills an empty id, and keeps a timestamp of 0', () => {
  const event = createEvent({ id: '', timestamp: 0 });
  assert.match(event.id, UUID_V4);
  assert.equal(event.timestamp, 0);
});

test('createEvent omits undefined fields', () => {
  assert.equal('branch' in createEvent({ branch: undefined }), false);
});

test('createEvent neither changes nor shares the given actions and delta', () => {
  const stateDelta = { a: 1 };
  const actions = { stateDelta };
  const event = createEvent({ actions });
  event.actions.stateDelta.b = 2;
  assert.deepEqual(stateDelta, { a: 1 });
  assert.deepEqual(Object.keys(actions), ['stateDelta']);
});

test('createEventActions keeps a delta key called __proto__', () => {
  const stateDelta = JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
  const actions = createEventActions({ stateDelta });
  assert.deepEqual(Object.keys(actions.stateDelta), ['__proto__']);
  assert.equal(actions.stateDelta.x, undefined);
});

test("createEventActions keeps additional fields, in the ADK's order", () => {
  const actions = createEventActions({ escalate: true, artifactDelta: { 'a.txt': 1 } });
  assert.deepEqual(
    Object.keys(actions),
    Object.keys(adk.createEventActions({ escalate: true, artifactDelta: { 'a.txt': 1 } })),
  );
});

test('an event id is a UUID even without crypto.randomUUID', (t) => {
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  t.after(() => Reflect.deleteProperty(crypto, 'randomUUID'));
  const ids = new Set(Array.from({ length: 1000 }, newEventId));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.match(id, UUID_V4);
});

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string(), thought: fc.boolean() }, { requiredKeys: [] }),
  fc.constant({ functionCall: { name: 'f' } }),
  fc.constant({ functionResponse: { name: 'f' } }),
  fc.constant({ executableCode: { code: '1' } }),
  fc.constant({ codeExecutionResult: { output: '1' } }),
);

const anyEvent = fc
  .record(
    {
      partial: fc.boolean(),
      longRunningToolIds: fc.array(fc.string(), { maxLength: 1 }),
      content: fc.record({ parts: fc.array(part, { maxLength: 3 }) }, { requiredKeys: [] }),
      actions: fc.record(
        {
          skipSummarization: fc.boolean(),
          requestedAuthConfigs: fc.constantFrom(
            {},
            { f1: { credentialKey: 'k', authScheme: { type: 'http' as const, scheme: 'basic' } } },
          ),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  .map((params): Event => createEvent(params));

test('isFinalResponse agrees with @google/adk', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      assert.equal(isFinalResponse(event), adk.isFinalResponse(event));
    }),
    cases(),
  );
});

test('isFinalResponse and finalResponseText agree with Rust in the shared cases', () => {
  const file = new URL('../../../vectors/final_response.json', import.meta.url);
  const cases = JSON.parse(readFileSync(file, 'utf8')) as FinalResponseCase[];
  assert.ok(cases.length >= 15);
  for (const { name, event, isFinal, text } of cases) {
    assert.equal(isFinalResponse(event), isFinal, name);
    assert.equal(finalResponseText(event) ?? null, text, name);
  }
});

interface FinalResponseCase {
  name: string;
  event: Event;
  isFinal: boolean;
  text: string | null;
}

test('finalResponseText joins the text parts as the ADK does', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const text = finalResponseText(event);
      if (text !== undefined) assert.equal(text, adk.stringifyContent(event));
      else
        assert.ok(
          event.partial === true || !isFinalResponse(event) || adk.stringifyContent(event) === '',
        );
    }),
  );
});
