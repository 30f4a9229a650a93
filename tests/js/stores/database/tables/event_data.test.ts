import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { fromEventData, toEventData } from '../../../../../js/stores/database/tables/event_data.js';
import { PYTHON_EVENT } from '../../../../../js/values/python/python_models.js';
import { createEvent } from '../../../../../js/values/model/event/create_event.js';
import { REMOVED } from '../../../../../js/values/state/scope.js';
import { hostileEvents, pythonEvents, valueWithAll } from './arbitrary_events.js';
import { cases } from '../../../../properties.js';

interface EventData {
  [name: string]: unknown;
  adk_session_wasm?: { event?: string; revision?: number };
}

const written = (event: object): EventData =>
  JSON.parse(toEventData(JSON.stringify(event)).eventData) as EventData;
const row = { id: 'e', invocationId: 'i', timeMicros: 1_500_250 };
const read = (eventData: string | null): Record<string, unknown> =>
  JSON.parse(fromEventData({ ...row, eventData }).text) as Record<string, unknown>;

const MAPS = {
  state_delta: {},
  artifact_delta: {},
  requested_auth_configs: {},
  requested_tool_confirmations: {},
};
const event = (more: object = {}): ReturnType<typeof createEvent> =>
  createEvent({ id: 'e', invocationId: 'i', author: 'user', timestamp: 1500.25, ...more });

function comesBack(text: string, revision?: number): void {
  const columns = toEventData(text, revision);
  const back = fromEventData({ ...columns, timeMicros: 0 });
  const { timestamp } = JSON.parse(text) as { timestamp: number };
  const expected = revision === undefined ? { text, timestamp } : { text, timestamp, revision };
  assert.deepEqual(back, expected);
}

describe('event_data of the package', () => {
  it("has Python's form, and adds nothing to an event that Python can represent", () => {
    const content = { role: 'user', parts: [{ functionCall: { name: 'f', args: { a_b: null } } }] };
    assert.deepEqual(written(event({ content, branch: null })), {
      id: 'e',
      invocation_id: 'i',
      author: 'user',
      timestamp: 1.50025,
      content: { role: 'user', parts: [{ function_call: { name: 'f', args: { a_b: null } } }] },
      actions: MAPS,
      node_info: { path: '' },
      adk_session_wasm: { event: JSON.stringify(event({ content, branch: null })) },
    });
    assert.equal(written(event({ content })).adk_session_wasm, undefined);
    fc.assert(
      fc.property(pythonEvents, (event) => {
        assert.equal(written(event).adk_session_wasm, undefined);
      }),
      cases(),
    );
  });

  it("represents all fields of Python's events", () => {
    const whole = valueWithAll(PYTHON_EVENT) as Record<string, unknown>;
    assert.equal(written({ ...whole, timestamp: 1500 }).adk_session_wasm, undefined);
  });

  it('returns any event exactly', () => {
    fc.assert(
      fc.property(fc.oneof(hostileEvents, pythonEvents), (event) => {
        comesBack(JSON.stringify(event));
      }),
      cases(),
    );
  });

  it('has the revision if there is one', () => {
    comesBack(JSON.stringify(event()), 7);
    comesBack(JSON.stringify(event({ myField: 1 })), Number.MAX_SAFE_INTEGER);
    const { eventData } = toEventData(JSON.stringify(event()), 7);
    assert.deepEqual((JSON.parse(eventData) as EventData).adk_session_wasm, { revision: 7 });
  });

  it("has fields unknown to Python only outside of Python's form", () => {
    const data = written(
      event({
        myField: 1,
        state: { a: 1 },
        content: { parts: [{ text: 'a', newKind: {} }, { newKind: {} }], x: 1 },
        usageMetadata: { newCount: 1 },
        actions: { stateDelta: {}, newAction: true },
      }),
    );
    assert.deepEqual(data.content, { parts: [{ text: 'a' }] });
    assert.deepEqual(data.actions, MAPS);
    assert.deepEqual(Object.keys(data).sort(), [
      'actions',
      'adk_session_wasm',
      'author',
      'content',
      'id',
      'invocation_id',
      'node_info',
      'timestamp',
    ]);
  });

  it("has values that Python refuses only outside of Python's form", () => {
    const data = written(
      event({
        author: 5,
        partial: 'no',
        avgLogprobs: '1',
        longRunningToolIds: ['a', null],
        customMetadata: [],
        content: { parts: [null, { inlineData: { data: '???', mimeType: 'a/b' } }] },
        cacheMetadata: { fingerprint: 'f', contentsCount: 1, cacheName: 'c' },
        actions: {
          stateDelta: [],
          artifactDelta: { a: 1, b: '2' },
          route: [1.5],
          compaction: { startTimestamp: 1, endTimestamp: 1e18, compactedContent: {} },
          requestedAuthConfigs: { a: {} },
        },
      }),
    );
    assert.equal(data.author, '');
    assert.deepEqual(data.long_running_tool_ids, ['a']);
    assert.deepEqual(data.content, { parts: [{ inline_data: { mime_type: 'a/b' } }] });
    assert.deepEqual(data.actions, { ...MAPS, artifact_delta: { a: 1 } });
    for (const name of ['partial', 'avg_logprobs', 'custom_metadata', 'cache_metadata']) {
      assert.ok(!(name in data), name);
    }
  });

  it('represents a removal by null', () => {
    const data = written(event({ actions: { stateDelta: { a: REMOVED, b: { c: REMOVED } } } }));
    assert.deepEqual((data.actions as { state_delta: unknown }).state_delta, {
      a: null,
      b: { c: REMOVED },
    });
  });

  it('nests no deeper than Python can read', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 240; level++) deep = [deep];
    const text = JSON.stringify(event({ output: deep }));
    comesBack(text);
    assert.ok(!('output' in (JSON.parse(toEventData(text).eventData) as object)));
  });

  it('keeps the digits of integers that JavaScript cannot represent', () => {
    const text =
      '{"id":"e","invocationId":"i","author":"user","timestamp":1500,' +
      '"usageMetadata":{"totalTokenCount":9007199254740993},"output":"9007199254740993",' +
      '"actions":{"stateDelta":{"a":[-123456789012345678901]},"artifactDelta":{},' +
      '"requestedAuthConfigs":{},"requestedToolConfirmations":{}}}';
    comesBack(text);
    const { eventData } = toEventData(text);
    assert.match(eventData, /"total_token_count":9007199254740993\}/);
    assert.match(eventData, /"state_delta":\{"a":\[-123456789012345678901\]\}/);
    assert.doesNotMatch(eventData, /adk_session_wasm/);
    // A number where Python has a text.
    comesBack('{"id":"e","invocationId":"i","author":9007199254740993,"timestamp":1500}');
  });
});

describe('event_data of Python, when it is read,', () => {
  it('gets missing members from the columns', () => {
    const empty = {
      id: 'e',
      invocationId: 'i',
      timestamp: 1500.25,
      actions: {
        stateDelta: {},
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
    };
    for (const eventData of [null, 'null', '{}', '[]', '{"id": "other", "timestamp": null}']) {
      assert.deepEqual(read(eventData), empty, String(eventData));
      assert.equal(fromEventData({ ...row, eventData }).timestamp, 1500.25);
    }
    assert.equal(read('{"invocation_id": "j", "timestamp": 2}').invocationId, 'j');
    assert.equal(read('{"timestamp": 1741218414.968405}').timestamp, 1741218414968.405);
    assert.equal(read('{"timestamp": -1}').timestamp, 1500.25);
  });

  it('has null for NaN and the infinities, except in strings', () => {
    const { text } = fromEventData({
      ...row,
      eventData:
        '{"avg_logprobs": -Infinity, "output": [NaN, Infinity, "NaN \\" Infinity", {"NaN": NaN}]}',
    });
    const { output, avgLogprobs } = JSON.parse(text) as Record<string, unknown>;
    assert.equal(avgLogprobs, undefined);
    assert.deepEqual(output, [null, null, 'NaN " Infinity', { NaN: null }]);
  });

  it('has U+FFFD for a lone surrogate', () => {
    assert.equal(read('{"author": "a\\ud800"}').author, 'a\ufffd');
  });

  it('is passed on unchanged if it is malformed, so that the reader reports the record', () => {
    for (const eventData of ['', '{', '5', '[1]', '"a"', '{"adk_session_wasm": {"event": "{"}}']) {
      const { text, timestamp } = fromEventData({ ...row, eventData });
      assert.equal(text, eventData.includes('adk') ? '{' : eventData);
      assert.equal(timestamp, 1500.25);
    }
  });

  it("has no member that only resembles the package's own", () => {
    for (const own of [
      'null',
      '"a"',
      '[]',
      '{"event": 5, "revision": "a"}',
      '{"revision": -5}',
      '{"revision": 1e300}',
    ]) {
      const { text, ...more } = fromEventData({
        ...row,
        eventData: `{"adk_session_wasm": ${own}}`,
      });
      assert.deepEqual(more, { timestamp: 1500.25 });
      assert.doesNotMatch(text, /adk_session_wasm/);
    }
  });
});
