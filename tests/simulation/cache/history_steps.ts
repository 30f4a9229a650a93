// The steps of a schedule that changes histories, and how a seed chooses them.

import { Random } from '../run/random.js';
import type { HistoryKind, Kind, Script, Step } from './steps.js';

/** What becomes of requests. Each may be cut at any byte, and so may its answer. */
const FATES = [
  ...(['late', 'late answer', 'dropped', 'answer lost', 'doubled'] as const),
  ...(['request cut', 'answer cut', 'answer broken', 'status'] as const),
] as const;

/** Statuses that stand for no refusal. */
const STATUSES = [429, 500, 502, 503, 504].flatMap((status) => [
  { status, isHandler: true },
  { status, isHandler: false },
]);

const KEYS = ['k', 'm', 'nothing', 'user:a', 'app:c'];

/** The kinds of steps, and how likely each is. */
const WEIGHTS: Readonly<Partial<Record<Kind | HistoryKind, number>>> = {
  append: 10,
  'agent answers': 8,
  answer: 2,
  rewind: 3,
  'undo rewind': 2,
  'edit turn': 3,
  regenerate: 3,
  'switch branch': 3,
  fork: 2,
  'agent runs': 1,
  read: 2,
  window: 1,
  page: 0.5,
  list: 0.5,
  'session state': 1,
  sync: 1,
  reopen: 1,
  crash: 2,
  freeze: 0.5,
  request: 9,
  offline: 1.5,
  online: 2,
  'cut feeds': 0.5,
  clock: 0.5,
  'slow store': 0.5,
  restart: 0.4,
};

export function historyScriptOf(histories: 'http' | 'cache'): (seed: number) => Script {
  return (seed) => {
    const random = new Random(seed, `histories over ${histories}`);
    const weights = Object.fromEntries(
      Object.entries(WEIGHTS).map(([kind, weight]) => [kind, weight * random.pick([0.3, 1, 1, 3])]),
    );
    const fates = random.pick([FATES, random.some(FATES, 0.4)]);
    const tabs = random.pick([[0, 2], [0, 2], [0, 1, 2], [0, 1, 2, 3]]); // prettier-ignore
    const waits = random.pick([
      [0, 0, 1, 5, 30],
      [0, 1, 12, 25, 200, 1500],
      [0, 0, 3, 15, 100, 6000, 40_000],
    ]);
    const sessions = random.pick([['s'], ['s', 's', 't']]);
    const steps = Array.from({ length: random.pick([8, 12, 18, 30]) }, (_, n): Step => {
      const kind = random.weighted(weights) as Kind | HistoryKind;
      const [wait, tab, s] = [random.pick(waits), random.pick(tabs), random.pick(sessions)];
      if (kind === 'fork') sessions.push(`f${n}`);
      return { n, wait, tab, s, do: kind, ...detailsOf(kind, random, fates) };
    });
    return { histories, isSqlite: seed % 20 === 0, isBounded: false, steps };
  };
}

function detailsOf(
  kind: Kind | HistoryKind,
  random: Random,
  fates: readonly (typeof FATES)[number][],
): Partial<Step> {
  switch (kind) {
    case 'append':
    case 'agent answers':
      return { keys: random.some(KEYS, 0.3), count: random.pick([1, 1, 1, 2]) };
    case 'crash':
      return { count: random.pick([1, 2, 3, 5, 8, 13, 30]) };
    case 'request': {
      const fate = fates.length === 0 ? 'dropped' : random.pick(fates);
      const [ms, place] = [random.pick([5, 30, 300, 3000, 35_000]), random.next()];
      return { fate, place, ...(fate === 'status' ? random.pick(STATUSES) : { ms }) };
    }
    case 'freeze':
    case 'agent runs':
      return { ms: random.pick([500, 4000, 9000, 30_000]) };
    case 'clock':
      return { ms: random.pick([-3_600_000, -5000, 0, 2000, 600_000]) };
    case 'slow store':
      return { ms: random.pick([0, 3, 20, 100]) };
    case 'window':
    case 'page':
      return { count: random.pick([1, 2, 5]) };
    default:
      return { count: random.below(1000) };
  }
}
