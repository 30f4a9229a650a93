import { type BaseSessionService, State } from '@google/adk';
import { SessionError } from '../errors.js';
import type { Event } from '../event.js';
import { type PendingEvent, type StateWriter, writeKey } from '../service/state_writer.js';
import type { Session } from '../session.js';

type FrameworkAppend = BaseSessionService['appendEvent'];
type FrameworkRequest = Parameters<FrameworkAppend>[0];
type Delta = Record<string, unknown>;

/** What is kept of an event's delta between the call and the commit. */
interface Written {
  /**
   * The keys of the delta, each with the framework's number of its write. The values are this object
   * itself: put on an object together with others, it shows which of them the framework takes for the
   * latest. `undefined`: there are no keys.
   */
  readonly numbered: Delta | undefined;
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
  /** Key → the `numbered` of the latest write among those that are stored. */
  readonly latest: Delta;
  readonly temp: Map<string, TempWrite>;
}

/** Stands in scratch states for a value that the framework has not touched. */
const UNTOUCHED = Symbol('untouched');

/**
 * Puts deltas on a handle's state as the framework does, whose parallel agents write to one state in
 * an order that only the framework knows: its `State` numbers each write in WeakMaps by the identity
 * of state and delta objects, and nothing reads those numbers but its own `appendEvent`. So that is
 * asked, with scratch sessions.
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
    if (Object.keys(given).length === 0) return { numbered: undefined, branch };
    // A state whose writes are all of now: only a delta's entries without a number can land on it.
    const scratch = bare();
    const now = new State(scratch, bare());
    for (const key of Object.keys(given)) now.set(key, UNTOUCHED);
    const numbered = this.#put(scratch, given);
    if (numbered === undefined) {
      throw new SessionError(
        'unsupported',
        'This version of @google/adk appends in a way that adk-session-wasm/adk does not know; ' +
          'nothing was stored. Update adk-session-wasm, or go back to @google/adk 2.0.',
      );
    }
    // Those were made by hand, as by `outputKey`, and count as written when they are appended.
    const byHand = Object.keys(numbered).filter((key) => scratch[key] !== UNTOUCHED);
    const counted = new State(scratch, numbered);
    for (const key of byHand) counted.set(key, UNTOUCHED);
    for (const key of Object.keys(numbered)) numbered[key] = numbered;
    return { numbered, branch };
  }

  before(
    session: Session,
    { order: { numbered } }: PendingEvent<Written>,
    ahead: readonly PendingEvent<Written>[],
  ): string[] {
    if (numbered === undefined) return [];
    const keys = Object.keys(numbered);
    const stored = this.#committed.get(session.state)?.latest;
    const rivals = new Set<Delta>();
    for (const key of keys) if (stored && key in stored) rivals.add(stored[key] as Delta);
    for (const { order } of ahead) if (order.numbered) rivals.add(order.numbered);
    if (rivals.size === 0) return [];
    const scratch = bare();
    for (const rival of rivals) this.#put(scratch, rival);
    this.#put(scratch, numbered);
    return keys.filter((key) => scratch[key] !== numbered);
  }

  after(session: Session, { snapshot, order }: PendingEvent<Written>): void {
    const { state } = session;
    const { numbered, branch } = order;
    if (numbered === undefined) return;
    const committed = this.#committedOn(state);
    for (const key of Object.keys(numbered)) {
      if (!Object.hasOwn(snapshot.delta, key)) Reflect.deleteProperty(numbered, key);
    }
    const delta = this.#put(committed.latest, numbered) ?? {};
    // Not what the caller wrote, but what was stored: of an object with a toJSON, what that gave.
    for (const key of Object.keys(delta)) delta[key] = snapshot.delta[key];
    this.#put(state, delta);
    // The framework knows no removal, and has put there what stands for it.
    for (const key of Object.keys(delta)) writeKey(state, key, state[key]);
    for (const [key, value] of Object.entries(snapshot.temp ?? {})) {
      putTemp(state, committed.temp, key, { value, branch });
    }
  }

  #committedOn(state: object): Committed {
    let committed = this.#committed.get(state);
    if (committed === undefined) {
      committed = { latest: bare(), temp: new Map() };
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
    // Its failure shows in what it has not done.
    this.#append(request).catch(() => undefined);
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
