// Searches an order of the calls of a round in which the contract gives the observed results, handles and stored data.
// Overlapping calls may be in either order. A call with an unknown outcome may have taken effect or not. An append that
// met a fault may have taken effect twice: if the response of a group is lost, the service appends its members again.
// The handle then gets the events that others have appended meanwhile.

import type { Call } from '../operation.js';
import { apply, applyNoticed, applyUnacknowledged, readable, type Rules } from './apply.js';
import { canonical } from './canonical.js';
import { type View, type World, worldText } from './world.js';

/** The data that was read after a round, without pending calls. */
export interface Observation {
  /** All stored data in the form of `worldText`; `undefined` if it was not read. */
  readonly stored: string | undefined;
  /** The handles of the clients that have not crashed or closed. */
  readonly handles: ReadonlyMap<number, ObservedHandle>;
}

export interface ObservedHandle {
  readonly events: readonly string[];
  readonly state: string;
  readonly lastUpdateTime: number;
}

/** A call that may have changed data or returned a result. */
export interface Candidate {
  readonly call: Call;
  /** Whether its outcome is unknown. */
  readonly isOpen: boolean;
  /** Whether it is the first attempt of an append that succeeds later. */
  readonly isFirstTry?: boolean;
}

export interface Round {
  readonly steps: readonly Candidate[];
  readonly observation: Observation;
}

/** The search fails after this number of steps. */
const MAX_TRIES = 200_000;

/**
 * @param isThorough whether to return all fitting worlds, not only the first
 * @returns distinct worlds that fit
 */
export function linearize(
  worlds: readonly World[],
  { steps, observation }: Round,
  rules: Rules,
  isThorough: boolean,
): World[] {
  // Most calls take effect in the order in which they settle.
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
      if (!fits(readable(world, rules), observation)) return false;
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
      const { world: after, result } = apply(world, call, rules);
      if (isFirstTry === true) {
        // Most appends have no earlier attempt. If one has none, later members of its group have none either.
        if (search(world, done | bit, skipped | bit)) return true;
        const mayHappen = result.code === undefined && (before[position]! & skipped) === 0;
        if (mayHappen && search(applyUnacknowledged(world, after, call), done | bit, skipped))
          return true;
        continue;
      }
      if (isOpen) {
        if (result.code === undefined) {
          if (search(applyUnacknowledged(world, after, call), done | bit, skipped)) return true;
          // The retry of an earlier append of the same write may add it, or its time, to the handle.
          const isAppend = call.operation.kind === 'append';
          if (isAppend && search(applyNoticed(world, after, call), done | bit, skipped)) {
            return true;
          }
        }
        if (search(world, done | bit, skipped)) return true;
        continue;
      }
      const { outcome } = call;
      const isSame =
        outcome.kind === 'failed'
          ? outcome.code === result.code
          : outcome.kind === 'done' && result.code === undefined && outcome.value === result.value;
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

/** Returns a bit set of the steps that came before this one. */
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
    // All members of a group have their first attempt before any of them is retried.
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

function fits(world: World, { stored, handles }: Observation): boolean {
  for (const [number, handle] of handles) {
    const view = world.views.get(number);
    if (view !== undefined && !isShown(view, handle)) return false;
  }
  return stored === undefined || worldText(world) === stored;
}

/** Whether a handle has the content of its view. */
export function isShown(view: View, { events, state, lastUpdateTime }: ObservedHandle): boolean {
  return (
    view.events.length === events.length &&
    view.events.every(({ text }, position) => text === events[position]) &&
    view.lastUpdateTime === lastUpdateTime &&
    canonical(view.state) === state
  );
}

/** A text that is the same for equal worlds. */
function key(world: World): string {
  const { sessions, users, apps, views, revisions } = world;
  return JSON.stringify([sessions, users, apps, views, revisions].map((map) => sorted([...map])));
}

function sorted(entries: readonly (readonly [unknown, unknown])[]): unknown[] {
  return [...entries].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}
