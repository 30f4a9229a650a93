import type { BaseSessionService } from '@google/adk';
import { createEventActions } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { type PendingEvent, type StateWriter, valueFor } from '../append/state_writer.js';
import { writeKey } from '../../values/state/keys.js';
import type { Session } from '../../values/model/session.js';
import { unknownFramework } from './framework_version.js';

type FrameworkAppend = BaseSessionService['appendEvent'];
type FrameworkRequest = Parameters<FrameworkAppend>[0];
type Delta = Record<string, unknown>;

/** The data about an event's delta that is kept from the call to the commit, and after it. */
interface RecordedDelta {
  /**
   * The keys that were written through the framework's `State`, with their numbers. Until the commit, each
   * value is this object itself. Put on a state after other deltas, it shows which of its keys the framework
   * takes for later than theirs. After the commit, the values are the stored ones.
   */
  readonly numbered: Delta;
  /** The other keys, set by hand, as `outputKey` does: they count as written at the call. */
  readonly setByHand: ReadonlySet<string>;
  /**
   * A scratch state whose keys count as written at the call. Of a numbered delta, the framework puts only
   * later writes on it.
   */
  readonly atCall: Delta;
  /** The parallel branch in which it was written. */
  readonly branch: string | undefined;
}

/** A `temp:` value that an append has put on a state, and the branch of that append. */
interface TempWrite {
  readonly value: unknown;
  readonly branch: string | undefined;
}

/** The writes that were committed through a handle, by its `state` object. */
interface CommittedWrites {
  /** Maps a key to the stored event with its latest write. */
  readonly latest: Map<string, RecordedDelta>;
  readonly temp: Map<string, TempWrite>;
}

/** Marks a value in a scratch state that the framework has not replaced. */
const UNTOUCHED = Symbol('untouched');

/**
 * Puts deltas on a handle's state as the framework does. Its parallel agents write to one state, in an order
 * that only the framework knows. The framework's `State` numbers each write in WeakMaps, keyed by the
 * identity of state and delta objects. Only the framework's own `appendEvent` reads these numbers.
 *
 * So this class calls that `appendEvent` with scratch sessions. It puts an entry of a delta on a state unless
 * the state has a later number for the key. The state then gets the entry's number. An entry that was set by
 * hand has no number, and counts as written now.
 *
 * That `appendEvent` is `async`, but does all its work synchronously. This class depends on that: a commit
 * must be on the handle before it is reported. A version that behaves otherwise is refused when a service is
 * made.
 */
export class FrameworkStateWriter implements StateWriter<RecordedDelta> {
  readonly #append: FrameworkAppend;
  readonly #committedByState = new WeakMap<object, CommittedWrites>();

  /**
   * @param append the framework's own `appendEvent`, bound to a service of the caller's copy
   * @throws SessionError `unsupported` if it does not work as this class needs
   */
  constructor(append: FrameworkAppend) {
    this.#append = append;
    this.recordOrder({ actions: createEventActions({ stateDelta: { key: 1 } }) });
  }

  /** Records an event's delta at the call, since the agent may write to the same delta while the event waits. */
  recordOrder(event: Partial<Event>): RecordedDelta {
    const { actions, branch } = event;
    const given = actions?.stateDelta ?? {};
    const atCall = emptyRecord();
    const setByHand = new Set<string>();
    const keys = Object.keys(given);
    if (keys.length === 0) return { numbered: emptyRecord(), setByHand, atCall, branch };
    const placeholders = emptyRecord();
    for (const key of keys) placeholders[key] = UNTOUCHED;
    this.#applyByFramework(atCall, placeholders);
    const numbered = this.#applyByFramework(atCall, given);
    if (numbered === undefined) {
      throw unknownFramework('appends');
    }
    for (const key of Object.keys(numbered)) {
      // A numbered write is older than the scratch state, so the framework has not put it there.
      if (atCall[key] === UNTOUCHED) {
        numbered[key] = numbered;
      } else {
        setByHand.add(key);
        Reflect.deleteProperty(numbered, key);
      }
    }
    return { numbered, setByHand, atCall, branch };
  }

  findSuperseded(
    session: Session,
    { order: { numbered } }: PendingEvent<RecordedDelta>,
    ahead: ReadonlyMap<string, PendingEvent<RecordedDelta>>,
  ): string[] {
    // Keys that were set by hand are later than all events appended before.
    const keys = Object.keys(numbered);
    if (keys.length === 0) return [];
    const stored = this.#committedByState.get(session.state)?.latest;
    const competingDeltas = new Set<RecordedDelta>();
    for (const key of keys) {
      // An event that is ahead and still has the key is later than all before it.
      const latest = ahead.get(key)?.order ?? stored?.get(key);
      if (latest !== undefined) competingDeltas.add(latest);
    }
    if (competingDeltas.size === 0) return [];
    const scratch = emptyRecord();
    for (const competing of competingDeltas) this.#applyByFramework(scratch, competing.numbered);
    this.#applyByFramework(scratch, numbered);
    const superseded = new Set(keys.filter((key) => scratch[key] !== numbered));
    for (const { setByHand, atCall } of competingDeltas) {
      if (!keys.some((key) => setByHand.has(key))) continue;
      // This gives `atCall` the number of a later write. If that write's commit fails, a write between the
      // two counts as superseded by mistake. But then the run has failed, and its agents append nothing more.
      this.#applyByFramework(atCall, numbered);
      for (const key of keys) {
        if (setByHand.has(key) && atCall[key] !== numbered) superseded.add(key);
      }
    }
    return [...superseded];
  }

  applyDelta(session: Session, { snapshot, order }: PendingEvent<RecordedDelta>): void {
    const { state } = session;
    const { numbered, setByHand, branch } = order;
    const { latest, temp } = this.#committedOn(state);
    for (const key of Object.keys(numbered)) {
      // Use the stored value instead of the caller's: an object with `toJSON` is stored as that method's
      // result.
      if (Object.hasOwn(snapshot.delta, key)) numbered[key] = valueFor(state, key, snapshot);
      else Reflect.deleteProperty(numbered, key);
    }
    this.#applyByFramework(state, numbered);
    // The framework does not remove keys: it has put the marker of a removal on the state. `writeKey` removes
    // the key.
    for (const key of Object.keys(numbered)) writeKey(state, key, state[key]);
    for (const key of setByHand) {
      // Do not put this through the framework: it would count as written now, later than the writes made
      // since the call.
      if (Object.hasOwn(snapshot.delta, key)) writeKey(state, key, valueFor(state, key, snapshot));
    }
    for (const key of Object.keys(snapshot.delta)) latest.set(key, order);
    for (const [key, value] of Object.entries(snapshot.temp ?? {})) {
      putTemp(state, temp, key, { value, branch });
    }
  }

  #committedOn(state: object): CommittedWrites {
    let committed = this.#committedByState.get(state);
    if (committed === undefined) {
      committed = { latest: new Map(), temp: new Map() };
      this.#committedByState.set(state, committed);
    }
    return committed;
  }

  /**
   * Lets the framework put a delta on a state, except for keys with later writes.
   *
   * @returns a copy of the delta, with the same numbers and without `temp:` keys; `undefined` if the
   *   framework did not do it at once
   */
  #applyByFramework(state: object, stateDelta: Delta): Delta | undefined {
    const actions = { stateDelta };
    const session = { id: '', appName: '', userId: '', state, events: [], lastUpdateTime: 0 };
    const request = { session, event: { id: '', actions } } as unknown as FrameworkRequest;
    try {
      // A class of another version may return no promise.
      Promise.resolve(this.#append(request)).catch(() => undefined);
    } catch {
      // Ignored: the check below detects what the framework has not done.
    }
    const isDone = session.events.length === 1 && actions.stateDelta !== stateDelta;
    return isDone ? actions.stateDelta : undefined;
  }
}

/**
 * Puts a `temp:` key on a state. The framework skips `temp:` keys, because a value written through its
 * `State` is on the state already. A value that was set by hand (`outputKey: 'temp:draft'`) is not, and the
 * two cannot be told apart. The key is left out only if a newer value may be there. That is the case in a
 * parallel branch, unless the state's value comes from an append of this branch, or of one above or below it.
 */
function putTemp(
  state: Delta,
  written: Map<string, TempWrite>,
  key: string,
  write: TempWrite,
): void {
  if (write.branch !== undefined && Object.hasOwn(state, key) && state[key] !== write.value) {
    const last = written.get(key);
    if (last?.value !== state[key] || !isSameLine(last?.branch, write.branch)) return;
  }
  writeKey(state, key, write.value);
  written.set(key, write);
}

/** Returns whether the branches are the same, or one is below the other. */
function isSameLine(one: string | undefined, other: string): boolean {
  return (
    one === undefined || `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`)
  );
}

/** Returns an object without prototype, so that the framework's `State` can set any key, even `__proto__`. */
function emptyRecord(): Delta {
  return Object.create(null) as Delta;
}
