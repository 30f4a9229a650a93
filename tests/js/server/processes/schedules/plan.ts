// What two pages and the world around them do in a schedule: drawn from its seed before it begins.

import { Random } from '../../../../simulation/run/random.js';
import type { Lost } from '../servers/lossy_channel.js';

/** What a page does. The messages of `look` … `order` differ in what the agent does. */
const WEIGHTS = {
  ask: 4,
  look: 2,
  slow: 3,
  twice: 2,
  order: 2,
  answer: 3,
  edit: 2,
  regenerate: 2,
  rewind: 1,
  cancel: 2,
  rename: 1,
} as const;

/** What happens to a server. Its channel is cut at either side, or its connection is lost. */
export type Fault = { readonly what: 'kill'; readonly downMs: number } | Cut;
export interface Cut {
  readonly what: 'cut';
  readonly lost: Exclude<Lost, 'nothing'> | 'connection';
}

export type Step = {
  readonly pauseMs: number;
  /** From 0 to 1: which message, which server. */
  readonly place: number;
} & (
  | { readonly kind: keyof typeof WEIGHTS | 'delete'; readonly page: 0 | 1 }
  | { readonly kind: 'fault'; readonly fault: Fault }
);

export interface Plan {
  readonly steps: readonly Step[];
  readonly isFaulty: boolean;
}

const STEPS = 10;

/** @param hasChannel whether there is a channel that can be cut */
export function planOf(seed: number, hasChannel: boolean): Plan {
  const random = new Random(seed, 'processes');
  const isFaulty = random.isLikely(0.5);
  const steps: Step[] = [];
  for (let number = 0; number < STEPS; number += 1) {
    // Most changes meet a run, and some come after it.
    const pauseMs = random.isLikely(0.2) ? random.below(1500) : random.below(250);
    const place = random.next();
    if (isFaulty && random.isLikely(0.2)) {
      steps.push({ kind: 'fault', fault: faultOf(random, hasChannel), pauseMs, place });
      continue;
    }
    const page = random.pick([0, 1] as const);
    steps.push({ kind: random.weighted(WEIGHTS), page, pauseMs, place });
  }
  if (random.isLikely(0.1)) {
    const [pauseMs, place] = [random.below(500), random.next()];
    steps.splice(2 + random.below(STEPS - 2), 0, { kind: 'delete', page: 0, pauseMs, place });
  }
  return { steps, isFaulty };
}

function faultOf(random: Random, hasChannel: boolean): Fault {
  if (!hasChannel || random.isLikely(0.5)) return { what: 'kill', downMs: random.below(2000) };
  return { what: 'cut', lost: random.pick(['sent', 'heard', 'both', 'connection']) };
}
