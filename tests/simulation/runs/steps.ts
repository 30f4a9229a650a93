// The steps of a schedule, and how a seed chooses them. A step names all that it needs, so any part of a schedule is a
// schedule too.

import type { SessionAction } from '../../../js/server/index.js';
import type { Fate } from '../cache/steps.js';
import { Random } from '../run/random.js';

export interface Script {
  /** Seeds the agents' plans, and how long the storage takes. */
  readonly seed: number;
  /** Whether each server has a service of its own, over one file. Else both have one service over memory. */
  readonly isSqlite: boolean;
  /** Whether the agent is a `Runner` of `@google/adk`. */
  readonly isRunner: boolean;
  /** Whether plugins and agents throw, hang, and break rules. */
  readonly isHealthy: boolean;
  /** Whether the pages begin at different servers. */
  readonly isApart: boolean;
  readonly steps: readonly Step[];
}

export interface Step extends Details {
  /** Makes the text of its message unique. */
  readonly n: number;
  /** Milliseconds until the next step. */
  readonly wait: number;
  readonly do: Kind;
  /** 0 has a cache, 1 has none. */
  readonly page: 0 | 1;
}

interface Details extends Fate {
  /** Chooses an event, a question or a message of those that the page shows: from 0 to 1. */
  readonly which?: number;
  /** The message that is cancelled, or the way in which ids are used again. */
  readonly how?: (typeof CANCELS)[number] | (typeof IDS)[number];
  /** What is refused. */
  readonly action?: SessionAction;
  readonly streaming?: boolean;
}

export type Kind = keyof typeof KINDS;

const CANCELS = ['unnamed', 'running', 'any message', 'last asked'] as const;

/** A request of an ordinary user whose ids are those of something else. */
const IDS = [
  'message as an answer',
  'message as a marker',
  'message as another message',
  'rewind as an answer',
  'rewind as a marker',
  'rewind as another message',
  'rewind with one id twice',
] as const;

const FATES = ['dropped', 'answer lost', 'answer cut', 'answer broken', 'request cut', 'late', 'late answer', 'doubled'] as const; // prettier-ignore

type Choose = (random: Random) => Details;

const nothing: Choose = () => ({});
const which: Choose = (random) => ({ which: random.next(), streaming: random.isLikely(0.8) });
const msOf =
  (...choices: number[]): Choose =>
  (random) => ({ ms: random.pick(choices) });

/** The kinds of steps, how likely each is, and how its details are chosen. */
const KINDS = {
  ask: [8, which],
  answer: [5, which],
  edit: [2.5, which],
  regenerate: [2, which],
  rewind: [1.5, which],
  fork: [0.7, which],
  cancel: [3, (random) => ({ how: random.pick(CANCELS), which: random.next() })],
  /** Cancels a message some milliseconds after the page has asked it. */
  'ask and cancel': [2, (random) => ({ how: random.pick(['unnamed', 'last asked'] as const), ms: random.pick([0, 0, 3, 12, 25, 45]) })], // prettier-ignore
  /** Cancels, and asks at once. */
  'cancel and ask': [1, (random) => ({ how: 'unnamed', ms: random.pick([0, 0, 5, 30]) })],
  retry: [1.5, which],
  discard: [0.7, which],
  delete: [0.4, nothing],
  /** Gives the next request of the page a fate. */
  request: [4, (random) => ({ fate: random.pick(FATES), ms: random.pick([5, 30, 300, 1500]), place: random.next() })], // prettier-ignore
  'cut feeds': [1.5, nothing],
  offline: [0.7, msOf(50, 400, 3000)],
  /** The server of the page is killed. Its pages go on at the other one. */
  'kill server': [1, nothing],
  'start servers': [1, nothing],
  /** The tab is killed, and opened again. */
  'kill page': [0.8, nothing],
  'close page': [0.5, nothing],
  refuse: [0.8, (random) => ({ action: random.pick(['run', 'rewind', 'appendEvents'] as const), ms: random.pick([20, 200, 1500]) })], // prettier-ignore
  'use ids': [1, (random) => ({ how: random.pick(IDS), which: random.next() })],
  /** The user of a cache signs out, and in again. What was not sent is lost. */
  'sign out': [0.5, nothing],
  forget: [0.5, nothing],
} satisfies Record<string, [number, Choose]>;

const WAITS = [0, 0, 1, 8, 25, 60, 60, 150, 400, 1500];

/** Kinds after which calls may take long, or fail. */
export const DISTURBING: readonly Kind[] = ['request', 'cut feeds', 'offline', 'kill server', 'kill page', 'close page', 'refuse', 'use ids', 'sign out', 'forget']; // prettier-ignore

/** Kinds that each schedule may have. */
const USUAL: readonly Kind[] = ['ask', 'answer', 'start servers'];

export function scriptOf(seed: number): Script {
  const random = new Random(seed, 'runs');
  const names = Object.keys(KINDS) as Kind[];
  const share = random.pick([0.2, 0.45, 0.7]);
  const kinds = names.filter((name) => USUAL.includes(name) || random.isLikely(share));
  const weights = Object.fromEntries(kinds.map((name) => [name, KINDS[name][0]]));
  const isHasty = random.isLikely(0.4);
  const count = 4 + random.below(20);
  const stepOf = (n: number): Step => {
    const kind = random.weighted(weights) as Kind;
    const [, choose] = KINDS[kind] as [number, Choose];
    const wait = random.pick(isHasty ? WAITS.slice(0, 7) : WAITS);
    return { n, do: kind, page: random.pick([0, 1] as const), wait, ...choose(random) };
  };
  const flags = {
    isSqlite: random.isLikely(0.35),
    isRunner: random.isLikely(0.45),
    isHealthy: random.isLikely(0.3),
    isApart: random.isLikely(0.4),
  };
  return { seed, ...flags, steps: Array.from({ length: count }, (_, index) => stepOf(index + 1)) };
}
