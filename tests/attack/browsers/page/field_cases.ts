// Which fields are damaged in which ways, and which calls then fail, by the record that they must name.

/** Events that share a record. */
export const TOGETHER = 20;

/** The calls that are made after each damage. */
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
  /** What the damage is called in a message. */
  readonly way: string;
  /** What stands there instead; of a function, what it makes of the value. `undefined`: nothing. */
  readonly value: unknown;
  /** These calls fail with `corrupt_record`, naming this. All others do as if nothing had been damaged. */
  readonly fails: Readonly<Partial<Record<Operation, string>>>;
  /** These may do either: a limit that the case states. */
  readonly open: readonly Operation[];
  /** So many events may be missing with `skipCorrupt`. */
  readonly lost: number;
}

type Ways = Readonly<Record<string, unknown>>;

const NO_NUMBER: Ways = {
  missing: undefined,
  'a text': 'text',
  negative: -1,
  NaN,
  Infinity,
  '2^53': 2 ** 53,
  'an object': {},
};

const NO_STATE: Ways = {
  missing: undefined,
  null: null,
  'a number': 7,
  'broken JSON': '{"n":',
  'a JSON array': '[]',
  'an object': {},
};

const NO_TEXT: Ways = {
  missing: undefined,
  'a number': 7,
  empty: '',
  'broken JSON': '{"id":',
  'JSON of no event': '[]',
};

const NO_IDS: Ways = { missing: undefined, 'a text': 'e1', empty: [], numbers: [7] };

type Marks = Float64Array;

function changed(at: number, value: number): (marks: unknown) => Marks {
  return (marks) => (marks as Marks).with(at, value);
}

const NO_MARKS: Ways = {
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

/** Of the calls that look at the session's record. */
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
    cases('session', field, NO_NUMBER, ALL_OF_SESSION),
  ),
  ...cases('session', 'number', { 'of no session': 99, 'of another': plus(-1) }, ALL_OF_SESSION),
  ...cases('session', 'numberCopy', { 'a text': 'text', NaN, 'of no session': 99 }, ALL_OF_SESSION),
  // Records of version 1 have none.
  ...cases('session', 'numberCopy', { missing: undefined }),
  ...cases('session', 'revision', { 'too high': plus(1000) }),
  ...cases('session', 'revision', { 'too low': plus(-1) }, ofSession(SESSION, ...WRITTEN)),
  ...cases('session', 'created', { 'too high': plus(1000) }, ALL_OF_SESSION),
  ...cases('session', 'lastUpdateTime', { earlier: 7 }),
  ...cases('session', 'state', NO_STATE, ofSession(SESSION, ...READ, ...LISTED, 'update')),
  // They make sealing and stale handles faster, and nothing is read by them.
  ...['open', 'sealed', 'replaced', 'token'].flatMap((field) => cases('session', field, NO_NUMBER)),
  ...cases('user', 'state', NO_STATE, ofState('user "ada"')),
  ...cases('user', 'revision', NO_NUMBER, ofState('user "ada"')),
  ...cases('app', 'state', NO_STATE, ofState('app "shop"')),
  ...cases('app', 'revision', NO_NUMBER, ofState('app "shop"')),
  // The storage counts the sessions again.
  ...cases('user', 'sessions', { ...NO_NUMBER, 'too many': 7, 'too few': 0 }),
  ...cases('app', 'sessions', { ...NO_NUMBER, 'too many': 7, 'too few': 0 }),
  ...cases('single', 'text', NO_TEXT, ofSession('event "e21"', 'full', 'last', 'after'), {
    lost: 1,
  }),
  // They tell what was stored before from what was not, and name what is damaged: the event is read.
  ...cases('single', 'ids', NO_IDS, {}, { open: ['last', 'after'] }),
  ...cases('single', 'revision', NO_NUMBER),
  // An index holds the time: without it, a read by time finds nothing.
  ...cases('single', 'time', NO_NUMBER, {}, { open: ['after'] }),
  ...cases('single', 'replaced', NO_NUMBER),
  ...cases('page', 'text', NO_TEXT, ofSession('"e', 'full', 'last', 'after'), { lost: TOGETHER }),
  ...cases('page', 'ids', NO_IDS, ofSession('event', 'last', 'after')),
  ...cases('page', 'marks', NO_MARKS, ofSession('"e', 'last', 'after')),
  // The text ends there all the same.
  ...cases('page', 'marks', { 'an end too far': changed(79, 1e9) }),
  ...cases('page', 'revision', NO_NUMBER),
  ...cases('page', 'time', NO_NUMBER, {}, { open: ['after'] }),
  ...cases('page', 'replaced', NO_NUMBER),
  // Without it no session gets a number, and no revision is safe from being used again.
  ...['next', 'floor'].flatMap((field) =>
    cases(
      'sequence',
      field,
      NO_NUMBER,
      ofSession('sequence of session numbers', 'create', 'delete'),
    ),
  ),
];
