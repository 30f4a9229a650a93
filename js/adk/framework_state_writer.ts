import type { BaseSessionService } from '@google/adk';
import { SessionError } from '../errors/errors.js';
import type { Event } from '../model/event.js';
import { type PendingEvent, type StateWriter, valueFor, writeKey } from '../append/state_writer.js';
import type { Session } from '../model/session.js';

type FrameworkAppend = BaseSessionService['appendEvent'];
type FrameworkRequest = Parameters<FrameworkAppend>[0];
type Delta = Record<string, unknown>;

/** What is kept of an event's delta between the call and the commit. */
interface Written {
  /**
   * The keys that were written through the framework's `State`, each with its number. Until the commit
   * the values are this object itself: put on an object after others, it shows which of its keys the
   * framework takes for later than theirs. From then on they are what was stored.
   */
  readonly numbered: Delta;
  /** The other keys, made by hand as by `outputKey`: they count as written at the call. */
  readonly byHand: ReadonlySet<string>;
  /** A state that was written at the call: of a numbered delta, only what is later lands on it. */
  readonly atCall: Delta;
  /** The parallel branch in which it was written. */
  readonly branch: string | undefined;
}

/** A `temp:` key that an append has put on a state. */
interface TempWrite {
  readonly value: unknown;
  readonly branch: string | undefined;
}

/** What was committed through a handle, by its `state`. */
interface Committed {
  /** Key → the event with the latest write among those that are stored. */
  readonly latest: Map<string, Written>;
  readonly temp: Map<string, TempWrite>;
}

/** Stands in scratch states for a value that the framework has not touched. */
const UNTOUCHED = Symbol('untouched');

/**
 * Puts deltas on a handle's state as the framework does, whose parallel agents write to one state in
 * an order that only the framework knows: its `State` numbers each write in WeakMaps by the identity
 * of state and delta objects, and nothing reads those numbers but its own `appendEvent`. So that is
 * asked, with scratch sessions: it puts an entry of a delta on a state unless the state has a later
 * number, and gives the state the number that the entry has; one without, made by hand, is of now.
 *
 * It is `async` and yet does all of its work at the call, which this builds on: a commit must not be
 * answered before it is on the handle. A version that does not is found out before anything is stored.
 */
export class FrameworkStateWriter implements StateWriter<Written> {
  readonly #append: FrameworkAppend;
  readonly #committed = new WeakMap<object, Committed>();

  /** @param append the framework's own, bound to a service of the caller's copy of it */
  constructor(append: FrameworkAppend) {
    this.#append = append;
  }

  /** At the call, since the agent goes on writing to the same delta while the event waits. */
  take(event: Event): Written {
    const { actions, branch } = event as Partial<Event>;
    const given = actions?.stateDelta ?? {};
    const atCall = bare();
    const byHand = new Set<string>();
    const keys = Object.keys(given);
    if (keys.length === 0) return { numbered: bare(), byHand, atCall, branch };
    const now = bare();
    for (const key of keys) now[key] = UNTOUCHED;
    this.#put(atCall, now);
    const numbered = this.#put(atCall, given);
    if (numbered === undefined) {
      throw new SessionError(
        'unsupported',
        'This version of @google/adk appends in a way that adk-session-wasm/adk does not know; ' +
          'nothing was stored. Update adk-session-wasm, or go back to @google/adk 2.0.',
      );
    }
    for (const key of Object.keys(numbered)) {
      // What has a number is older than the state.
      if (atCall[key] === UNTOUCHED) {
        numbered[key] = numbered;
      } else {
        byHand.add(key);
        Reflect.deleteProperty(numbered, key);
      }
    }
    return { numbered, byHand, atCall, branch };
  }

  before(
    session: Session,
    { order: { numbered } }: PendingEvent<Written>,
    ahead: ReadonlyMap<string, PendingEvent<Written>>,
  ): string[] {
    // What was made by hand is later than all that were appended before it.
    const keys = Object.keys(numbered);
    if (keys.length === 0) return [];
    const stored = this.#committed.get(session.state)?.latest;
    const rivals = new Set<Written>();
    for (const key of keys) {
      // One that is ahead and still has the key is later than all before it.
      const latest = ahead.get(key)?.order ?? stored?.get(key);
      if (latest !== undefined) rivals.add(latest);
    }
    if (rivals.size === 0) return [];
    const scratch = bare();
    for (const rival of rivals) this.#put(scratch, rival.numbered);
    this.#put(scratch, numbered);
    const superseded = new Set(keys.filter((key) => scratch[key] !== numbered));
    for (const { byHand, atCall } of rivals) {
      if (!keys.some((key) => byHand.has(key))) continue;
      // This gives `atCall` the number of a later write. Should its commit fail, another write between
      // the two is taken for superseded; but then the run has failed, whose agents would append it.
      this.#put(atCall, numbered);
      for (const key of keys) {
        if (byHand.has(key) && atCall[key] !== numbered) superseded.add(key);
      }
    }
    return [...superseded];
  }

  after(session: Session, { snapshot, order }: PendingEvent<Written>): void {
    const { state } = session;
    const { numbered, byHand, branch } = order;
    const { latest, temp } = this.#committedOn(state);
    for (const key of Object.keys(numbered)) {
      // Not what the caller wrote, but what was stored: of an object with a toJSON, what that gave.
      if (Object.hasOwn(snapshot.delta, key)) numbered[key] = valueFor(state, key, snapshot);
      else Reflect.deleteProperty(numbered, key);
    }
    this.#put(state, numbered);
    // The framework knows no removal, and has put there what stands for it.
    for (const key of Object.keys(numbered)) writeKey(state, key, state[key]);
    for (const key of byHand) {
      // Not through the framework, which would take it for a write of now, later than those that were
      // made since the call.
      if (Object.hasOwn(snapshot.delta, key)) writeKey(state, key, valueFor(state, key, snapshot));
    }
    for (const key of Object.keys(snapshot.delta)) latest.set(key, order);
    for (const [key, value] of Object.entries(snapshot.temp ?? {})) {
      putTemp(state, temp, key, { value, branch });
    }
  }

  #committedOn(state: object): Committed {
    let committed = this.#committed.get(state);
    if (committed === undefined) {
      committed = { latest: new Map(), temp: new Map() };
      this.#committed.set(state, committed);
    }
    return committed;
  }

  /**
   * Has the framework put a delta on a state, where that holds no later writes.
   *
   * @returns a copy of the delta, with the same numbers and without `temp:` keys; `undefined` if the
   *   framework did not do it at once
   */
  #put(state: object, stateDelta: Delta): Delta | undefined {
    const actions = { stateDelta };
    const session = { id: '', appName: '', userId: '', state, events: [], lastUpdateTime: 0 };
    const request = { session, event: { id: '', actions } } as unknown as FrameworkRequest;
    try {
      // A class of some other version may answer without a promise.
      Promise.resolve(this.#append(request)).catch(() => undefined);
    } catch {
      // Its failure shows in what it has not done.
    }
    const isDone = session.events.length === 1 && actions.stateDelta !== stateDelta;
    return isDone ? actions.stateDelta : undefined;
  }
}

/**
 * Puts a `temp:` key on a state. The framework passes over them, as what is written through its
 * `State` is there already; but one that was made by hand (`outputKey: 'temp:draft'`) is not, and the
 * two cannot be told apart. It is left out only where it may have been overtaken: in a parallel
 * branch, if the state holds what no append in this branch, above or below it has put there.
 */
function putTemp(
  state: Delta,
  written: Map<string, TempWrite>,
  key: string,
  write: TempWrite,
): void {
  if (write.branch !== undefined && Object.hasOwn(state, key) && state[key] !== write.value) {
    const last = written.get(key);
    if (last?.value !== state[key] || !areInLine(last?.branch, write.branch)) return;
  }
  writeKey(state, key, write.value);
  written.set(key, write);
}

/** Whether one of the branches is the other, or below it. */
function areInLine(one: string | undefined, other: string): boolean {
  return (
    one === undefined || `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`)
  );
}

/** Without prototype, so that the framework's `State` can set any key, `__proto__` too. */
function bare(): Delta {
  return Object.create(null) as Delta;
}
