// Looks for an order of the calls of a round in which the contract gives just what was seen: each answer, every
// handle and all that is stored. Calls that overlapped may stand in either order. A call that ended in the open may
// have happened or not. An append that met a fault may have happened twice: if the answer of a group is lost, its members
// are appended again, and the handle then learns of what others have appended meanwhile.

import type { Call } from '../operation.js';
import { apply, noticed, readable, type Rules, untold } from './apply.js';
import { canonical } from './canonical.js';
import { type View, type World, worldText } from './world.js';

/** What was seen after a round, when nothing was under way any more. */
export interface Seen {
  /** All that is stored, as `worldText` says it; `undefined`: nobody looked. */
  readonly stored: string | undefined;
  /** The handles of living clients, as `viewText` says it. */
  readonly handles: ReadonlyMap<number, SeenHandle>;
}

export interface SeenHandle {
  readonly events: readonly string[];
  readonly state: string;
  readonly lastUpdateTime: number;
}

/** A call that may have changed something, or answered something. */
export interface Candidate {
  readonly call: Call;
  /** Whether nobody knows if it happened. */
  readonly isOpen: boolean;
  /** Whether it is a try of an append that succeeds later. */
  readonly isFirstTry?: boolean;
}

export interface Round {
  readonly steps: readonly Candidate[];
  readonly seen: Seen;
}

/** So many tries, then the search gives up. */
const MAX_TRIES = 200_000;

/**
 * @param isThorough whether all worlds that fit are wanted, not only the first
 * @returns worlds that fit, each once
 */
export function linearize(
  worlds: readonly World[],
  { steps, seen }: Round,
  rules: Rules,
  isThorough: boolean,
): World[] {
  // Most calls happen in the order in which they are answered.
  const sorted = steps
    .flatMap((step) => (mayHaveTwoTries(step) ? [firstTryOf(step), step] : step))
    .sort((one, other) => one.call.settledAt - other.call.settledAt);
  const before = sorted.map((step) => predecessors(step, sorted));
  const results = new Map<string, World>();
  const visited = new Set<string>();
  let tries = 0;

  /** @returns whether the search is over */
  const search = (world: World, done: number, skipped = 0): boolean => {
    tries += 1;
    if (tries > MAX_TRIES) throw new Error('the search for an order of the calls takes too long');
    if (done === 2 ** sorted.length - 1) {
      if (!fits(readable(world, rules), seen)) return false;
      results.set(isThorough ? key(world) : '', world);
      return !isThorough;
    }
    if (isThorough || tries > 500) {
      const state = `${done} ${skipped} ${key(world)}`;
      if (visited.has(state)) return false;
      visited.add(state);
    }
    for (const [position, { call, isOpen, isFirstTry }] of sorted.entries()) {
      const bit = 1 << position;
      if ((done & bit) !== 0 || (before[position]! & ~done) !== 0) continue;
      const { world: after, answer } = apply(world, call, rules);
      if (isFirstTry === true) {
        // Most have none. Without it, later ones of its group have none either.
        if (search(world, done | bit, skipped | bit)) return true;
        const mayHappen = answer.code === undefined && (before[position]! & skipped) === 0;
        if (mayHappen && search(untold(world, after, call), done | bit, skipped)) return true;
        continue;
      }
      if (isOpen) {
        if (answer.code === undefined) {
          if (search(untold(world, after, call), done | bit, skipped)) return true;
          // The retry of an earlier append of its group may bring it, or its time, to the handle.
          const isAppend = call.operation.kind === 'append';
          if (isAppend && search(noticed(world, after, call), done | bit, skipped)) {
            return true;
          }
        }
        if (search(world, done | bit, skipped)) return true;
        continue;
      }
      const { outcome } = call;
      const isSame =
        outcome.kind === 'failed'
          ? outcome.code === answer.code
          : outcome.kind === 'done' && answer.code === undefined && outcome.value === answer.value;
      if (isSame && search(after, done | bit, skipped & ~before[position]!)) return true;
    }
    return false;
  };

  for (const world of worlds) if (search(world, 0)) break;
  return [...results.values()];
}

function mayHaveTwoTries({ call }: Candidate): boolean {
  const { operation, outcome, faultsBefore, faultsAfter } = call;
  return operation.kind === 'append' && outcome.kind === 'done' && faultsAfter > faultsBefore;
}

function firstTryOf({ call }: Candidate): Candidate {
  return { call, isOpen: true, isFirstTry: true };
}

/** As bits: which of the steps came before this one. */
function predecessors(step: Candidate, sorted: readonly Candidate[]): number {
  const { call } = step;
  let bits = 0;
  for (const [position, earlierStep] of sorted.entries()) {
    const { call: other } = earlierStep;
    if (earlierStep === step) continue;
    if (other === call) {
      if (earlierStep.isFirstTry === true) bits |= 1 << position;
      continue;
    }
    // All of a group are tried once before the first of them is tried again.
    const isTriedAgain = step.isFirstTry === true && earlierStep.isFirstTry !== true;
    if (isTriedAgain && mayHaveTwoTries(earlierStep) && other.settledAt > call.beganAt) continue;
    const { operation } = call;
    const { operation: earlier } = other;
    const isQueued =
      operation.kind === 'append' &&
      earlier.kind === 'append' &&
      operation.handle === earlier.handle &&
      other.number < call.number;
    if (other.settledAt < call.beganAt || isQueued) bits |= 1 << position;
  }
  return bits;
}

function fits(world: World, { stored, handles }: Seen): boolean {
  for (const [number, handle] of handles) {
    const view = world.views.get(number);
    if (view !== undefined && !isShown(view, handle)) return false;
  }
  return stored === undefined || worldText(world) === stored;
}

/** Whether a handle shows what it must. */
export function isShown(view: View, { events, state, lastUpdateTime }: SeenHandle): boolean {
  return (
    view.events.length === events.length &&
    view.events.every(({ text }, position) => text === events[position]) &&
    view.lastUpdateTime === lastUpdateTime &&
    canonical(view.state) === state
  );
}

/** Of equal worlds it is the same. */
function key(world: World): string {
  const { sessions, users, apps, views, revisions } = world;
  return JSON.stringify([sessions, users, apps, views, revisions].map((map) => sorted([...map])));
}

function sorted(entries: readonly (readonly [unknown, unknown])[]): unknown[] {
  return [...entries].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}
