// The steps of a schedule, and how a seed chooses them. A step names all that it needs, so any part of a schedule is a
// schedule too.

import { Random } from '../run/random.js';

export interface Script {
  /** Present: its steps change histories, over a server that hides credentials. `'http'`: its tabs have no cache. */
  readonly histories?: 'http' | 'cache';
  readonly isSqlite: boolean;
  /** Whether a device keeps one copy at most. */
  readonly isBounded: boolean;
  readonly steps: readonly Step[];
}

export type Kind = keyof typeof KINDS;

/** Steps that only schedules of histories have. */
export type HistoryKind =
  | ('rewind' | 'undo rewind' | 'switch branch' | 'edit turn' | 'regenerate' | 'fork')
  /** The user answers a call; the server's agent appends an event, with credentials; a run of it begins. */
  | ('answer' | 'agent answers' | 'agent runs');

export interface Step extends Details {
  /** Makes the values that the step writes unique. */
  readonly n: number;
  /** Milliseconds until the next step. */
  readonly wait: number;
  readonly do: Kind | HistoryKind;
  /** Two tabs share a device. */
  readonly tab: number;
  readonly s: string;
}

interface Details {
  /** The keys of the state that are written too. */
  readonly keys?: readonly string[];
  readonly count?: number;
  readonly isRefused?: boolean;
  readonly isComputed?: boolean;
  readonly how?: 'drop' | 'retry';
  readonly ms?: number;
  readonly fate?: (typeof FATES)[number] | 'request cut' | 'answer broken';
  /** Where a request or an answer is cut: from 0, its beginning, to 1. */
  readonly place?: number;
  /** An answer in place of the handler's. */
  readonly status?: number;
  /** Whether that has the header of the handler. */
  readonly isHandler?: boolean;
}

/** What becomes of a request. */
export type Fate = Pick<Step, 'fate' | 'place' | 'ms' | 'status' | 'isHandler'>;

const FATES = [
  /** It arrives later, so that others overtake it, or its sender has given up. */
  'late',
  'late answer',
  'dropped',
  /** It takes effect, and the answer is lost. */
  'answer lost',
  'doubled',
  'answer cut',
  'body cut',
  /** It never arrives; something else answers. */
  'status',
] as const;

/** Statuses of the handler, and of others in its place. */
const STATUSES = [
  ...[400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504, 507].map(
    (status) => ({ status, isHandler: true }),
  ),
  ...[400, 200, 403, 404, 408, 415, 422, 501, 502, 503, 504, 507].map((status) => ({
    status,
    isHandler: false,
  })),
];

/** Statuses with which the handler refuses a request for good. */
const REFUSING_STATUSES: readonly number[] = [400, 403, 413, 422, 501];

/** Whether a request may be refused for good, whatever it holds. The handler refuses a body that was cut. */
export function refusesAny({ fate, status = 0, isHandler = false }: Fate): boolean {
  return (
    fate === 'body cut' || (fate === 'status' && isHandler && REFUSING_STATUSES.includes(status))
  );
}

const KEYS = ['k', 'm', 'user:a', 'user:b', 'app:c', 'app:d'];

/** What all steps of a schedule have in common. */
interface Habits {
  readonly fates: readonly (typeof FATES)[number][];
  readonly isRefusing: boolean;
}

type Choose = (random: Random, habits: Habits) => Details;

const nothing: Choose = () => ({});
const keys: Choose = (random) => ({ keys: random.some(KEYS, 0.2) });
const isComputed: Choose = (random) => ({ isComputed: random.isLikely(0.25) });
const msOf =
  (...choices: number[]): Choose =>
  (random) => ({ ms: random.pick(choices) });
const countOf =
  (...choices: number[]): Choose =>
  (random) => ({ count: random.pick(choices) });
const fate: Choose = (random, { fates }) => {
  const ms = random.pick([5, 30, 300, 3000, 35_000]);
  const fate = fates.length === 0 ? 'dropped' : random.pick(fates);
  return { fate, ...(fate === 'status' ? random.pick(STATUSES) : { ms }) };
};

/** The kinds of steps, how likely each is, and how its details are chosen. */
const KINDS = {
  append: [
    12,
    (random: Random, { isRefusing }: Habits) => ({
      keys: random.some(KEYS, 0.2),
      count: random.pick([1, 1, 1, 2, 3]),
      isRefused: isRefusing && random.isLikely(0.2),
    }),
  ],
  /** Writes one of the events again. `count`: which one. */
  edit: [3, (random: Random) => ({ keys: random.some(KEYS, 0.2), count: random.below(100) })],
  create: [2, keys],
  open: [2, keys],
  read: [3, nothing],
  /** Reads the last events. */
  window: [1, countOf(1, 2, 5)],
  page: [0.7, countOf(1, 2, 5)],
  /** Sets the title and a label. */
  describe: [1.2, nothing],
  delete: [1, nothing],
  'delete user': [0.15, nothing],
  'session state': [1, isComputed],
  'user state': [2, isComputed],
  'app state': [1.5, isComputed],
  'clear user state': [0.3, nothing],
  list: [1, nothing],
  sync: [1.5, nothing],
  forget: [0.3, nothing],
  /** Decides about what was refused. */
  settle: [1.5, (random: Random) => ({ how: random.pick(['drop', 'retry'] as const) })],
  reopen: [0.7, nothing],
  'switch owner': [0.5, nothing],
  /** Crashes at one of the next awaits of the local store. */
  crash: [2, countOf(1, 2, 3, 5, 8, 13, 30)],
  freeze: [0.7, msOf(500, 4000, 9000, 30_000)],
  /** Gives one of the next requests of the device a fate. */
  request: [9, fate],
  /** One of the next requests is answered by the order to forget. */
  'order to forget': [0.2, () => ({ fate: 'status' as const, status: 410, isHandler: true })],
  offline: [1.5, nothing],
  online: [2, nothing],
  'cut feeds': [0.7, nothing],
  wipe: [0.3, nothing],
  clock: [0.7, msOf(-3_600_000, -5000, 0, 2000, 600_000)],
  'slow store': [0.7, msOf(0, 3, 20, 100)],
  /** The next writes of the device find no room. */
  quota: [0.5, countOf(1, 2, 10)],
  'agent appends': [2, nothing],
  'agent deletes': [0.3, nothing],
  restart: [0.4, nothing],
} satisfies Readonly<Record<string, readonly [weight: number, choose: Choose]>>;

/** What may end a feed, or hold it up until another tab leads. */
export const DISTURBING: readonly Step['do'][] = [
  ...(['request', 'order to forget', 'offline', 'cut feeds', 'restart'] as const),
  ...(['freeze', 'crash', 'wipe', 'clock', 'quota'] as const),
];

export function scriptOf(seed: number): Script {
  const random = new Random(seed, 'cache');
  const kinds = Object.keys(KINDS) as Kind[];
  const weights = {} as Record<Kind, number>;
  const isDeleting = random.isLikely(0.4);
  // The network is calm in some, so that feeds are never late.
  const isCalm = random.isLikely(0.15);
  for (const kind of kinds) {
    weights[kind] = KINDS[kind][0] * (kind === 'append' ? 1 : random.pick([0, 1, 1, 3]));
    if (!isDeleting && kind.includes('delete')) weights[kind] = 0;
    if (isCalm && DISTURBING.includes(kind)) weights[kind] = 0;
  }
  // Few fates together find more than all.
  const habits = {
    fates: random.pick([FATES, random.some(FATES, 0.4)]),
    isRefusing: random.isLikely(0.2),
  };
  const sessions = random.pick([['s'], ['s', 't']]);
  const tabs = random.pick([[0, 2], [0, 1], [0, 1, 2, 3], [0, 1, 2]]); // prettier-ignore
  const waits = random.pick([
    [0, 0, 1, 5, 30],
    [0, 1, 12, 25, 200, 1500],
    [0, 0, 3, 15, 100, 6000, 40_000],
  ]);
  const steps = Array.from({ length: random.pick([6, 10, 15, 25]) }, (_, n): Step => {
    const [wait, tab, s] = [random.pick(waits), random.pick(tabs), random.pick(sessions)];
    const kind = random.weighted(weights);
    return { n, wait, tab, s, do: kind, ...KINDS[kind][1](random, habits) };
  });
  return { isSqlite: seed % 20 === 0, isBounded: random.isLikely(0.1), steps };
}
