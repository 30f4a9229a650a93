// One event, to and from what the API takes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { State } from '../../../../../js/index.js';
import {
  fromEventResource,
  toEventResource,
} from '../../../../../js/stores/vertex/events/event_resource.js';
import { SESSION_EVENT } from '../../../../vertex_server/messages.js';
import { parseMessage } from '../../../../vertex_server/proto_json.js';
import { hostileEvents, pythonEvents } from '../../database/tables/arbitrary_events.js';

const POSTED = 1_770_000_000_123_456;

/** The event that a strict server returns. */
function stored(text: string, place?: number): unknown {
  const sent: unknown = JSON.parse(JSON.stringify(toEventResource(text, POSTED, place)));
  return parseMessage(sent, SESSION_EVENT, 'event', 'refused');
}

const asStored = (event: object): string => JSON.stringify({ timestamp: 1500, ...event, id: 'e' });

describe('An event', () => {
  for (const [kind, events] of Object.entries({ pythonEvents, hostileEvents })) {
    it(`survives a round trip exactly, and a strict server accepts it: ${kind}`, () => {
      fc.assert(
        fc.property(events, (event) => {
          const text = asStored(event);
          // Protobuf refuses lone surrogates, and stored events have none.
          fc.pre(!/\\ud[89a-f]/i.test(text));
          const back = fromEventResource(stored(text));
          assert.equal(back.text, text);
          assert.equal(back.id, 'e');
          assert.equal(back.postedAt, POSTED);
        }),
        { numRuns: 300 },
      );
    });
  }

  it('keeps the position of the event that it replaces', () => {
    const text = asStored({ author: 'a' });
    assert.equal(fromEventResource(stored(text, 12_345)).firstPostedAt, 12_345);
    assert.equal(fromEventResource(stored(text)).firstPostedAt, undefined);
  });

  it("is in rawEvent in Python's form", () => {
    const text = asStored({
      author: 'agent',
      invocationId: 'i',
      content: { role: 'model', parts: [{ text: 'hi', partMetadata: { a: 1 } }] },
      actions: { stateDelta: { a: 1 }, compaction: COMPACTION },
      cacheMetadata: { fingerprint: 'f', contentsCount: 2 },
      myField: 1,
    });
    const { rawEvent } = stored(text) as { rawEvent: Record<string, unknown> };
    assert.deepEqual(rawEvent, {
      id: 'e',
      timestamp: 1.5,
      author: 'agent',
      invocationId: 'i',
      content: { role: 'model', parts: [{ text: 'hi', partMetadata: { a: 1 } }] },
      actions: {
        stateDelta: { a: 1 },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
        compaction: { ...COMPACTION, startTimestamp: 1, endTimestamp: 2 },
      },
      cacheMetadata: { fingerprint: 'f', contents_count: 2 },
      nodeInfo: { path: '' },
    });
  });

  it('sends its whole delta, however deep', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200; level += 1) deep = [deep];
    const text = asStored({ actions: { stateDelta: { deep, gone: State.REMOVED } } });
    const { actions } = stored(text) as { actions: { stateDelta: unknown } };
    assert.deepEqual(actions.stateDelta, { deep, gone: null });
  });

  it('that is malformed keeps its JSON, so that a reader can name it', () => {
    for (const nothing of [undefined, null, 7, 'text', [], { eventMetadata: 7, rawEvent: [] }]) {
      assert.equal(fromEventResource(nothing).postedAt, 0);
    }
  });
});

const COMPACTION = {
  startTimestamp: 1000,
  endTimestamp: 2000,
  compactedContent: { parts: [{ text: 'short' }] },
};
