import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Event } from '../../../../js/index.js';
import { isSessionError } from '../../../../js/index.js';
import { parseRecords } from '../../../../js/stores/indexed_db/stored_records.js';
import { says } from '../fixture.js';

interface StoredRecord {
  ids: unknown;
  text: unknown;
  marks?: unknown;
}

function events(count: number, from = 0): Event[] {
  return Array.from({ length: count }, (_, n) => ({
    ...says(`text ${from + n}, "quoted" ü 👩‍👧`),
    id: `e${from + n}`,
    timestamp: 1000,
  }));
}

const single = (event: Event): StoredRecord => ({
  ids: [`7/${event.id}`],
  text: JSON.stringify(event),
});

/** A page record of the events. */
function page(given: Event[]): StoredRecord & { text: string } {
  const texts = given.map((event) => JSON.stringify(event));
  let end = -1;
  const marks = texts.flatMap((text, n) => [n + 1, n + 1, 1000, (end += text.length + 1)]);
  return {
    ids: given.map(({ id }) => `7/${id}`),
    text: texts.join(','),
    marks: new Float64Array(marks),
  };
}

function ids(parsed: Event[]): string[] {
  return parsed.map(({ id }) => id);
}

function refusal(records: readonly unknown[]): { record: string; message: string } {
  try {
    parseRecords(records, 'session', false);
  } catch (error) {
    assert.ok(isSessionError(error, 'corrupt_record'), String(error));
    return { record: error.record ?? '', message: error.message };
  }
  assert.fail('it was read');
}

describe('Records of a database', () => {
  it('are read in order: pages, then single events', () => {
    const all = events(300);
    const records = [page(all.slice(0, 128)), page(all.slice(128, 256)), ...all.slice(256).map(single)]; // prettier-ignore
    assert.deepEqual(parseRecords(records, 'session', false), all);
    assert.deepEqual(parseRecords(records, 'session', true), all);
  });

  it('can be empty, or pages of one event', () => {
    assert.deepEqual(parseRecords([], 'session', false), []);
    const all = events(2);
    assert.deepEqual(parseRecords([page([all[0]!]), single(all[1]!)], 'session', false), all);
  });

  it('separate the event id from the number, whatever characters it has', () => {
    const event = { ...says('x'), id: 'a/b/"c"' };
    const { record } = refusal([{ ids: ['12/a/b/"c"'], text: '{' }]);
    assert.equal(record, `event ${JSON.stringify(event.id)} of session "session"`);
    assert.deepEqual(parseRecords([single(event)], 'session', false), [event]);
  });

  it('are parsed together, many pages at a time', (test) => {
    const all = events(10_000);
    const records = Array.from({ length: 79 }, (_, n) => page(all.slice(n * 128, (n + 1) * 128)));
    const parse = test.mock.method(JSON, 'parse').mock;
    assert.equal(parseRecords(records, 's', false).length, 10_000);
    const parsed = parse.calls.map((call) => String(call.arguments[0]));
    assert.ok(parsed.length < records.length, `${parsed.length} calls for ${records.length} pages`);
    assert.equal(`[${parsed.map((text) => text.slice(1, -1)).join(',')}]`, JSON.stringify(all));
  });
});

describe('A damaged event within a page', () => {
  const all = events(5);
  const whole = page(all);
  const damaged = (text: string): StoredRecord => ({
    ...whole,
    text: whole.text.replace(JSON.stringify(all[2]), () => text),
  });
  const long = JSON.stringify(all[2]);

  for (const [what, text] of [
    ['its brace lost', long.slice(1)],
    ['cut', long.slice(0, 40)],
    ['empty', ''],
    ['longer', `${long}${'x'.repeat(1000)}`],
    ['null', 'null'],
    ['a list', '[]'],
    ['several', '{},{}'],
    ['of the same length', 'x'.repeat(long.length)],
    ['unclosed', `${long.slice(0, -1)} `],
  ] as const) {
    it(`is named, and all others are read: ${what}`, () => {
      const records = [single(events(1, 90)[0]!), damaged(text), single(events(1, 91)[0]!)];
      const { record, message } = refusal(records);
      assert.equal(record, 'event "e2" of session "session"');
      assert.match(message, /skipCorrupt/);
      const read = parseRecords(records, 'session', true);
      assert.deepEqual(ids(read), ['e90', 'e0', 'e1', 'e3', 'e4', 'e91']);
    });
  }

  it('is named if it is missing with its comma, although its neighbours have its length', () => {
    const record = { ...whole, text: whole.text.replace(`${long},`, () => '') };
    assert.equal(refusal([record]).record, 'event "e2" of session "session"');
    assert.deepEqual(ids(parseRecords([record], 'session', true)), ['e0', 'e1', 'e3', 'e4']);
  });

  it('is omitted alone, even if the ids are unknown', () => {
    const record = { ...damaged('{'), ids: undefined };
    assert.deepEqual(ids(parseRecords([record], 'session', true)), ['e0', 'e1', 'e3', 'e4']);
  });

  it('can be the first or the last', () => {
    for (const [number, rest] of [
      [0, ['e1', 'e2', 'e3', 'e4']],
      [4, ['e0', 'e1', 'e2', 'e3']],
    ] as const) {
      // prettier-ignore
      const record = { ...whole, text: whole.text.replace(JSON.stringify(all[number]), () => '{') };
      assert.equal(refusal([record]).record, `event "e${number}" of session "session"`);
      assert.deepEqual(ids(parseRecords([record], 'session', true)), rest);
    }
  });
});

describe('A damaged record', () => {
  const before = single(events(1, 1)[0]!);
  const behind = page(events(3, 10));
  const kept = ['e1', 'e10', 'e11', 'e12'];

  for (const [what, record, name] of [
    ['undefined', undefined, 'event without a readable id of session "session"'],
    ['null', null, 'event without a readable id of session "session"'],
    ['a number', 5, 'event without a readable id of session "session"'],
    ['a text', '{}', 'event without a readable id of session "session"'],
    ['empty', {}, 'event without a readable id of session "session"'],
    ['an event without text', { ids: ['7/e5'] }, 'event "e5" of session "session"'],
    ['one whose text is none', { ids: ['7/e5'], text: 5 }, 'event "e5" of session "session"'],
    ['one whose text is damaged', { ids: ['7/e5'], text: '{' }, 'event "e5" of session "session"'],
    ['one whose text is two', { ids: ['7/e5'], text: '{},{}' }, 'event "e5" of session "session"'],
    [
      'one whose ids are no list',
      { ids: 'e5', text: '{' },
      'event without a readable id of session "session"',
    ],
    [
      'one whose ids are no texts',
      { ids: [5], text: '{' },
      'event without a readable id of session "session"',
    ],
    [
      'a page without text',
      { ...page(events(3, 5)), text: undefined },
      'page of 3 events, "e5" to "e7", of session "session"',
    ],
    [
      'a page whose text and marks are damaged',
      { ...page(events(3, 5)), text: '{', marks: 5 },
      'page of 3 events, "e5" to "e7", of session "session"',
    ],
    [
      'a page whose marks are cut',
      { ...page(events(3, 5)), text: '{', marks: new Float64Array(3) },
      'page of 3 events, "e5" to "e7", of session "session"',
    ],
  ] as const) {
    // prettier-ignore
    it(`is named by its known ids, and all others are read: ${what}`, () => {
      const records = [before, record, behind];
      assert.equal(refusal(records).record, name);
      assert.deepEqual(ids(parseRecords(records, 'session', true)), kept);
    });
  }

  it('is reported after damaged records before it', () => {
    assert.match(refusal([{ ids: ['7/e0'], text: '{' }, null]).record, /"e0"/);
  });

  it('is readable if only marks or ids are damaged', () => {
    const all = events(3);
    for (const marks of [
      undefined,
      null,
      5,
      new Float64Array(0),
      new Float64Array(5),
      [1, 2, 3, 4],
    ]) {
      // prettier-ignore
      assert.deepEqual(parseRecords([{ ...page(all), marks }], 'session', false), all);
    }
    for (const bad of [undefined, 5, [], ['x'], [null, {}, 3]]) {
      assert.deepEqual(parseRecords([{ ...page(all), ids: bad }], 'session', false), all);
    }
  });

  it('may have useless marks', () => {
    for (const marks of [NaN, -1, 1e9, Infinity]) {
      const record = { ...page(events(2, 5)), text: '{', marks: new Float64Array(8).fill(marks) };
      assert.match(refusal([record]).record, /"e5"/);
      assert.deepEqual(ids(parseRecords([before, record], 'session', true)), ['e1']);
    }
  });
});
