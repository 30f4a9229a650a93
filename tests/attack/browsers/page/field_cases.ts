// The damaged fields, the ways to damage them, and the calls that must then fail, with the record that they must name.

/** The number of events in one record. */
export const PAGE_SIZE = 20;

/** The calls after each damage. */
export type Operation =
  | 'full'
  | 'last'
  | 'after'
  | 'skip'
  | 'list'
  | 'listApp'
  | 'sibling'
  | 'append'
  | 'update'
  | 'create'
  | 'delete';

export interface FieldCase {
  readonly kind: 'session' | 'user' | 'app' | 'single' | 'page' | 'sequence';
  readonly field: string;
  /** The name of the damage in messages. */
  readonly way: string;
  /** The damaged value, or a function that makes it from the stored value. `undefined`: the field is missing. */
  readonly value: unknown;
  /** The calls that fail with `corrupt_record`, with the record that they name. All others work as without damage. */
  readonly fails: Readonly<Partial<Record<Operation, string>>>;
  /** Calls that may fail or work. */
  readonly open: readonly Operation[];
  /** The number of events that may be missing with `skipCorrupt`. */
  readonly lost: number;
}

type Ways = Readonly<Record<string, unknown>>;

const WRONG_NUMBERS: Ways = {
  missing: undefined,
  'a text': 'text',
  negative: -1,
  NaN,
  Infinity,
  '2^53': 2 ** 53,
  'an object': {},
};

const WRONG_STATES: Ways = {
  missing: undefined,
  null: null,
  'a number': 7,
  'broken JSON': '{"n":',
  'a JSON array': '[]',
  'an object': {},
};

const WRONG_TEXTS: Ways = {
  missing: undefined,
  'a number': 7,
  empty: '',
  'broken JSON': '{"id":',
  'JSON that is not an event': '[]',
};

const WRONG_IDS: Ways = { missing: undefined, 'a text': 'e1', empty: [], numbers: [7] };

type Marks = Float64Array;

function changed(at: number, value: number): (marks: unknown) => Marks {
  return (marks) => (marks as Marks).with(at, value);
}

const WRONG_MARKS: Ways = {
  missing: undefined,
  'a text': 'text',
  empty: new Float64Array(0),
  'an array': [1, 2, 3, 4],
  'of half an event': new Float64Array(2),
  'NaN as seq': changed(0, NaN),
  'a huge revision': changed(1, 1e300),
  'NaN as time': changed(78, NaN),
  'a negative end': changed(7, -1),
};

/** The given calls, each failing with this record. */
function ofSession(record: string, ...calls: Operation[]): FieldCase['fails'] {
  return Object.fromEntries(calls.map((call) => [call, record]));
}

const SESSION = 'session "s1"';
const READ: readonly Operation[] = ['full', 'last', 'after', 'skip'];
const LISTED: readonly Operation[] = ['list', 'listApp'];
const WRITTEN: readonly Operation[] = ['append', 'update'];

function cases(
  kind: FieldCase['kind'],
  field: string,
  ways: Ways,
  fails: FieldCase['fails'] = {},
  { open = [], lost = 0 }: Partial<Pick<FieldCase, 'open' | 'lost'>> = {},
): FieldCase[] {
  return Object.entries(ways).map(([way, value]) => ({
    kind,
    field,
    way,
    value,
    fails,
    open,
    lost,
  }));
}

const ALL_OF_SESSION = ofSession(SESSION, ...READ, ...LISTED, ...WRITTEN);
const plus = (more: number) => (value: unknown) => (value as number) + more;

/** Reads of a state that two sessions share fail for both. */
const ofState = (record: string): FieldCase['fails'] =>
  ofSession(record, ...READ, ...LISTED, 'sibling', 'update', 'create');

export const CASES: readonly FieldCase[] = [
  ...['number', 'created', 'revision', 'lastUpdateTime'].flatMap((field) =>
    cases('session', field, WRONG_NUMBERS, ALL_OF_SESSION),
  ),
  ...cases('session', 'number', { 'of no session': 99, 'of another': plus(-1) }, ALL_OF_SESSION),
  ...cases('session', 'numberCopy', WRONG_NUMBERS, ALL_OF_SESSION),
  ...cases('session', 'numberCopy', { 'of no session': 99 }, ALL_OF_SESSION),
  ...cases('session', 'revision', { 'too high': plus(1000) }),
  ...cases('session', 'revision', { 'too low': plus(-1) }, ofSession(SESSION, ...WRITTEN)),
  ...cases('session', 'created', { 'too high': plus(1000) }, ALL_OF_SESSION),
  ...cases('session', 'lastUpdateTime', { earlier: 7 }),
  ...cases('session', 'state', WRONG_STATES, ofSession(SESSION, ...READ, ...LISTED, 'update')),
  // These fields only make the page writer and stale handles faster. No read uses them.
  ...['open', 'paged', 'replaced', 'token'].flatMap((field) =>
    cases('session', field, WRONG_NUMBERS),
  ),
  ...cases('user', 'state', WRONG_STATES, ofState('user "ada"')),
  ...cases('user', 'revision', WRONG_NUMBERS, ofState('user "ada"')),
  ...cases('app', 'state', WRONG_STATES, ofState('app "shop"')),
  ...cases('app', 'revision', WRONG_NUMBERS, ofState('app "shop"')),
  // The storage counts the sessions again.
  ...cases('user', 'sessions', { ...WRONG_NUMBERS, 'too many': 7, 'too few': 0 }),
  ...cases('app', 'sessions', { ...WRONG_NUMBERS, 'too many': 7, 'too few': 0 }),
  ...cases('single', 'text', WRONG_TEXTS, ofSession('event "e21"', 'full', 'last', 'after'), {
    lost: 1,
  }),
  // The ids only find retries and name a damaged event, so the event is read.
  ...cases('single', 'ids', WRONG_IDS, {}, { open: ['last', 'after'] }),
  ...cases('single', 'revision', WRONG_NUMBERS),
  // An index holds the time: without it, a read by time finds nothing.
  ...cases('single', 'time', WRONG_NUMBERS, {}, { open: ['after'] }),
  ...cases('single', 'replaced', WRONG_NUMBERS),
  ...cases('page', 'text', WRONG_TEXTS, ofSession('"e', 'full', 'last', 'after'), {
    lost: PAGE_SIZE,
  }),
  ...cases('page', 'ids', WRONG_IDS, ofSession('event', 'last', 'after')),
  ...cases('page', 'marks', WRONG_MARKS, ofSession('"e', 'last', 'after')),
  // The end of the text is the end of the last event.
  ...cases('page', 'marks', { 'an end too far': changed(79, 1e9) }),
  ...cases('page', 'revision', WRONG_NUMBERS),
  ...cases('page', 'time', WRONG_NUMBERS, {}, { open: ['after'] }),
  ...cases('page', 'replaced', WRONG_NUMBERS),
  // Without the sequence, no session gets a number, and a revision could be reused.
  ...['next', 'floor'].flatMap((field) =>
    cases(
      'sequence',
      field,
      WRONG_NUMBERS,
      ofSession('sequence of session numbers', 'create', 'delete'),
    ),
  ),
];
