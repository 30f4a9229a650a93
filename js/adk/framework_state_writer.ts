import type { BaseSessionService } from '@google/adk';
import type { Event } from '../event.js';
import { REMOVED } from '../scope.js';
import { type PendingEvent, type StateWriter, writeKey } from '../service/state_writer.js';
import type { Session } from '../session.js';

type FrameworkAppend = BaseSessionService['appendEvent'];
type FrameworkRequest = Parameters<FrameworkAppend>[0];

/** What is kept of an event between its call and its commit. */
interface Written {
  /** A copy of the event, whose delta carries the framework's numbers of its writes. */
  readonly copy: Event;
  /** How the state's keys were before, and what they were set to. */
  readonly before: Map<string, { was: PropertyDescriptor | undefined; became: unknown }>;
}

/**
 * Puts deltas on a handle's state as the framework does, whose parallel agents write to one state in
 * an order that only the framework knows: it numbers each write in WeakMaps by the identity of state
 * and delta objects, and looks at them nowhere but in its own `appendEvent`. So that is asked, with a
 * scratch session that has the handle's state and no events.
 *
 * It writes before the commit, since only then can be told which keys a later write has overtaken;
 * what it wrote is undone when the commit fails.
 */
export class FrameworkStateWriter implements StateWriter<Written> {
  readonly #append: FrameworkAppend;
  /** By state: the value of each key that was last committed through it. */
  readonly #committed = new WeakMap<object, Map<string, unknown>>();

  /** @param append the framework's own, bound to a service of the caller's copy of it */
  constructor(append: FrameworkAppend) {
    this.#append = append;
  }

  /**
   * At the call, since the agent goes on with the same delta object while the event waits: applied to
   * a session with nothing in it, the framework leaves a delta of its own on the copy, numbers and all.
   */
  take(event: Event): Written {
    const actions = (event as Partial<Event>).actions;
    const copy = { ...event, actions: { ...actions } } as Event;
    void this.#appendTo({}, copy);
    return { copy, before: new Map() };
  }

  async before(session: Session, event: PendingEvent<Written>): Promise<string[]> {
    const { state } = session;
    const { delta, temp } = event.snapshot;
    const { copy, before } = event.order;
    const keys = Object.keys(delta);
    const was = new Map(
      [...keys, ...Object.keys(temp ?? {})].map((key) => {
        return [key, Object.getOwnPropertyDescriptor(state, key)] as const;
      }),
    );
    for (const [key, value] of Object.entries(temp ?? {})) writeKey(state, key, value);
    // The values that are stored, where they are not what the caller wrote: what its toJSON gave.
    const numbered = (copy.actions as Partial<Event['actions']>).stateDelta ?? {};
    for (const key of keys) writeEntry(numbered, key, delta[key]);
    await this.#appendTo(state, copy);
    for (const key of keys) {
      // The framework knows no removal, and writes the sentinel.
      if (state[key] === REMOVED) writeKey(state, key, REMOVED);
    }
    for (const [key, descriptor] of was) before.set(key, { was: descriptor, became: state[key] });

    const committed = this.#committed.get(state);
    return keys.filter((key) => {
      const isOvertaken = state[key] !== valueOf(delta[key]);
      return isOvertaken && committed?.has(key) === true && committed.get(key) === state[key];
    });
  }

  after(session: Session, event: PendingEvent<Written>): void {
    const { state } = session;
    let committed = this.#committed.get(state);
    if (committed === undefined) {
      this.#committed.set(state, (committed = new Map<string, unknown>()));
    }
    for (const [key, value] of Object.entries(event.snapshot.delta)) {
      committed.set(key, valueOf(value));
    }
  }

  undo(session: Session, event: PendingEvent<Written>): void {
    const { state } = session;
    for (const [key, { was, became }] of event.order.before) {
      // Somebody wrote to it meanwhile: that stays.
      if (state[key] !== became) continue;
      if (was === undefined) Reflect.deleteProperty(state, key);
      else Reflect.defineProperty(state, key, was);
    }
  }

  async #appendTo(state: object, event: Event): Promise<void> {
    const session = { id: '', appName: '', userId: '', state, events: [], lastUpdateTime: 0 };
    await this.#append({ session, event } as unknown as FrameworkRequest);
  }
}

function valueOf(value: unknown): unknown {
  return value === REMOVED ? undefined : value;
}

function writeEntry(delta: object, key: string, value: unknown): void {
  const ordinary = { writable: true, enumerable: true, configurable: true };
  Object.defineProperty(delta, key, { value, ...ordinary });
}
