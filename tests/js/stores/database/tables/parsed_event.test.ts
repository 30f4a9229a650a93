import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import {
  fromEventData,
  parsedEvent,
  toEventData,
} from '../../../../../js/stores/database/tables/event_data.js';
import { PYTHON_EVENT } from '../../../../../js/values/python/python_models.js';
import { writeNames } from '../../../../../js/values/python/casing.js';
import { EVENT } from '../../../../../js/values/python/fields.js';
import { createEvent } from '../../../../../js/values/model/event/create_event.js';
import { hostileEvents, pythonEvents, valueWithAll } from './arbitrary_events.js';
import { cases } from '../../../../properties.js';

const ROW = { id: 'e', invocationId: 'of the column', timeMicros: 1_500_250 };

/** The event of a row, parsed from its text. */
const byText = (id: string, eventData: string): unknown =>
  JSON.parse(fromEventData({ ...ROW, id, eventData }).text);

/** Python's JSON of an event with all required members. */
const python = (more: string): string =>
  `{"id": "e", "invocation_id": "i", "author": "a", "timestamp": 1.5, "actions": {}, ${more}}`;

function isReadAsByText(eventData: string): void {
  const event = parsedEvent('e', eventData);
  assert.deepEqual(event, byText('e', eventData), eventData);
  assert.deepEqual(Object.keys(event ?? {}), Object.keys(byText('e', eventData) as object));
}

describe('A parsed event', () => {
  it('equals its text, in order of members too, for any event of the package', () => {
    fc.assert(
      fc.property(fc.oneof(pythonEvents, hostileEvents), (event) => {
        const { id, eventData } = toEventData(JSON.stringify(event));
        const parsed = parsedEvent(id, eventData);
        assert.equal(JSON.stringify(parsed), JSON.stringify(byText(id, eventData)));
      }),
      cases(),
    );
  });

  it('equals its text for any event of another program', () => {
    let [compared, all] = [0, 0];
    fc.assert(
      fc.property(hostileEvents, (some) => {
        all += 1;
        const event = { invocationId: '', ...some, timestamp: Number(some.timestamp) / 1000 };
        const eventData = JSON.stringify(writeNames(event, EVENT, 'snake'));
        const expected = byText('e', eventData);
        const parsed = parsedEvent('e', eventData);
        if (parsed === undefined) {
          assert.equal((expected as { invocationId: unknown }).invocationId, ROW.invocationId);
          return;
        }
        assert.equal(JSON.stringify(parsed), JSON.stringify(expected));
        compared += 1;
      }),
      cases(),
    );
    assert.ok(compared > 0.3 * all, `only ${compared} of ${all} events were compared`);
  });

  it("has all fields of Python's events", () => {
    const whole = valueWithAll(PYTHON_EVENT) as Record<string, unknown>;
    const { eventData } = toEventData(JSON.stringify({ ...whole, id: 'e', timestamp: 1500 }));
    isReadAsByText(eventData);
  });

  it('keeps names in user data that only look like fields', () => {
    const stateDelta = { state_delta: 1, invocation_id: { function_call: null } };
    const args = { function_call: [{ state_delta: {} }] };
    const event = createEvent({
      id: 'e',
      content: { parts: [{ functionCall: { name: 'f', args } }] },
      actions: { stateDelta },
    });
    assert.deepEqual(parsedEvent('e', toEventData(JSON.stringify(event)).eventData), event);
  });

  it('shares no default with another event', () => {
    const [one, other] = [
      parsedEvent('a', python('"branch": "b"')),
      parsedEvent('b', python('"branch": "b"')),
    ];
    assert.ok(one && other);
    one.actions.stateDelta.mine = 1;
    assert.deepEqual(other.actions.stateDelta, {});
  });

  it('has the id of the row', () => {
    assert.equal(parsedEvent('other', python('"branch": "b"'))?.id, 'other');
  });

  it('has null for NaN and the infinities', () => {
    isReadAsByText(python('"avg_logprobs": -Infinity, "output": [NaN, "NaN", {"a": Infinity}]'));
  });

  it('has the nearest number for an integer of any size', () => {
    isReadAsByText(python('"output": [9007199254740993, -123456789012345678901234]'));
  });

  it('keeps surrogate pairs, and has U+FFFD for a lone surrogate', () => {
    isReadAsByText(
      python('"output": ["\\ud83d\\ude00", "\\uD83D", "\\ude00\\ud83d", "\\\\ud83d"]'),
    );
    isReadAsByText(python('"adk_session_wasm": {"revision": 1}, "output": {"\\ud83d": 1}'));
  });

  it('nests as deep as an event may', () => {
    const deep = `${'{"web":['.repeat(120)}1${']}'.repeat(120)}`;
    isReadAsByText(python(`"grounding_metadata": ${deep}`));
    isReadAsByText(python(`"grounding_metadata": {"web": ${deep.replaceAll('web', 'ragChunk')}}`));
  });

  const columns = ['{}', '[]', 'null', '{"timestamp": 1.5}', '{"invocation_id": "i"}'];
  const times = ['null', '-1', '1e300', '"1.5"', 'NaN'];
  const untimed = times.map((time) => `{"invocation_id": "i", "timestamp": ${time}}`);
  for (const eventData of [null, ...columns, ...untimed]) {
    it(`is undefined if the text needs the other columns: ${eventData}`, () => {
      assert.equal(parsedEvent('e', eventData), undefined);
    });
  }

  const own = ['{', '5', '{"timestamp": "a"}'].map((event) =>
    python(`"adk_session_wasm": ${JSON.stringify({ event })}`),
  );
  for (const eventData of ['', '{', '5', '[1]', '"a"', '{}{}', ...own]) {
    it(`is undefined if the text is damaged: ${eventData}`, () => {
      assert.equal(parsedEvent('e', eventData), undefined);
    });
  }
});
