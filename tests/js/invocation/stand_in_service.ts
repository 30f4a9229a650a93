// Until InMemorySessionService exists. Only what an Invocation needs: one session, appendEvent.
import type { Event } from '../../../js/event.js';
import { newEventId } from '../../../js/event.js';
import type { AppendEventRequest, Session, StateShape } from '../../../js/session.js';
import { applySnapshot, snapshotEvent } from '../../../js/snapshot.js';
import { define } from '../../../js/state.js';
import { REMOVED } from '../../../js/scope.js';
import { isOvertaken, isSuperseded, markStored, takeOrder } from '../../../js/write_order.js';

export class StandInService {
  readonly stored: { events: Event[]; state: StateShape } = { events: [], state: {} };
  fail: (() => unknown) | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  session(state: StateShape = {}): Session {
    for (const [k, v] of Object.entries(state)) this.stored.state[k] = v;
    return { id: 's', appName: 'app', userId: 'u', state, events: [], lastUpdateTime: 0 };
  }

  appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial) return Promise.resolve(event);
    const order = takeOrder(event.actions.stateDelta);
    const snapshot = snapshotEvent(event, Date.now, newEventId);
    const done = this.#queue.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (this.fail) throw this.fail();
      for (const key of Object.keys(snapshot.delta)) {
        if (isSuperseded(session.state, order, key)) delete snapshot.delta[key];
      }
      this.stored.events.push(
        JSON.parse(JSON.stringify({ ...event, actions: snapshot.actions })) as Event,
      );
      for (const [key, value] of Object.entries(snapshot.delta)) put(this.stored.state, key, value);
      const all = [...Object.entries(snapshot.delta), ...Object.entries(snapshot.temp ?? {})];
      for (const [key, value] of all) {
        if (!isSuperseded(session.state, order, key) && !isOvertaken(session.state, order, key))
          put(session.state, key, value);
      }
      markStored(
        session.state,
        order,
        all.map(([key]) => key),
      );
      applySnapshot(event, snapshot);
      session.events.push(event);
      return event;
    });
    this.#queue = done.catch(() => {});
    return done;
  }
}

function put(state: StateShape, key: string, value: unknown): void {
  if (value === REMOVED) delete state[key];
  else define(state, key, value);
}
