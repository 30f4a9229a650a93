import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { format, resolveConfig } from 'prettier';

import {
  type NewEventColumns,
  fromEventData,
  toEventData,
} from '../../../js/stores/database/tables/event_data.js';
import { writeNames } from '../../../js/values/python/casing.js';
import { EVENT } from '../../../js/values/python/fields.js';
import { toSeconds, convertTimes } from '../../../js/values/python/time.js';
import { hostileEvents, pythonEvents } from '../../js/stores/database/tables/arbitrary_events.js';
import { root } from '../../toolchain/environment.mjs';
import { forPython } from '../for_python.js';
import { linesOfPython } from '../python.js';
import { newFolder } from '../../new_folder.js';

type JsonObject = Record<string, unknown>;

/** A generated file. */
const PYDANTIC_MODELS = join(root, 'js/values/python/pydantic_models.ts');

const COUNT = 3000;
/** Each run draws other events. A failure shows the event. */
const seed = Date.now() % 2 ** 31;
const samples = (events: fc.Arbitrary<JsonObject>): JsonObject[] =>
  fc.sample(events, { numRuns: COUNT, seed });

const event = (more: string): string => `{"id":"e","timestamp":253402300799999,${more}}`;
/** Events with the maximum depth, and with numbers that JavaScript cannot represent. */
const EXTREMES = [
  event(`"output":${'['.repeat(249)}${']'.repeat(249)}`),
  event(`"actions":{"stateDelta":{"a":${'{"a":'.repeat(197)}1${'}'.repeat(197)}}}`),
  event(`"actions":{"stateDelta":{"a":${'{"a":'.repeat(198)}1${'}'.repeat(198)}}}`),
  event(`"avgLogprobs":1${'0'.repeat(400)}`),
  event(`"usageMetadata":{"totalTokenCount":1${'0'.repeat(400)}},"author":12345678901234567890`),
];

describe('Python', () => {
  // UPDATE=1 npm test -- tests/interop/database/events.test.ts   writes the file again
  it('has the models of js/values/python/pydantic_models.ts', async () => {
    const [models] = linesOfPython('models.py');
    const text =
      '/** The pydantic models of google-adk for Python: for each the names of its fields, by what they accept. Generated. */\n' +
      `export const PYDANTIC_MODELS = ${JSON.stringify(models)} as const;\n`;
    const options = await resolveConfig(PYDANTIC_MODELS);
    const formatted = await format(text, { ...options, filepath: PYDANTIC_MODELS });
    if (process.env.UPDATE !== undefined) writeFileSync(PYDANTIC_MODELS, formatted);
    assert.equal(readFileSync(PYDANTIC_MODELS, 'utf8'), formatted);
  });

  describe('with any event of the package', () => {
    let rows: NewEventColumns[] = [];
    let answers: { event?: JsonObject; error?: string }[] = [];

    before(() => {
      const texts = samples(hostileEvents).map((event) => JSON.stringify(event));
      rows = [...texts, ...EXTREMES].map((text) => toEventData(text));
      const lines = rows.map(({ id, invocationId, eventData }) => [id, invocationId, eventData]);
      answers = linesOfPython('read_events.py', { lines }) as typeof answers;
    });

    it('reads the part that is meant for it', () => {
      assert.equal(answers.length, rows.length);
      answers.forEach(({ error }, at) => assert.equal(error, undefined, rows[at]?.eventData));
    });

    it('would write the same row', () => {
      rows.forEach(({ eventData }, at) => {
        const data = JSON.parse(eventData) as JsonObject;
        delete data.adk_session_wasm;
        assert.deepEqual(forPython(answers[at]?.event), forPython(data), eventData);
      });
    });
  });
});

describe('The package', () => {
  it('reads every event of Python', () => {
    // Neither program stores partial events.
    const events = samples(pythonEvents.filter(({ partial }) => partial !== true)).slice(0, 300);
    const folder = newFolder();
    const given = events.map((event) =>
      writeNames(
        convertTimes(event, (time) => toSeconds(time as number)),
        EVENT,
        'snake',
      ),
    );
    const rows = linesOfPython('store_events.py', {
      args: [join(folder, 'python.db')],
      lines: given,
    }) as { id: string; invocationId: string; eventData: string }[];
    assert.equal(rows.length, events.length);
    rows.forEach((row, at) => {
      const { text, timestamp } = fromEventData({ ...row, timeMicros: 0 });
      const event = events[at]!;
      assert.equal(timestamp, event.timestamp);
      assert.deepEqual(forPython(JSON.parse(text)), forPython(event));
    });
  });
});
