// Retries of events of whose deltas a later write has superseded keys, for every storage: in Node and in a page.

import type { SessionService, Event, Session, StateShape } from '../../../../js/index.js';

/** The part of the package that the caller provides. */
interface Package {
  readonly State: new (value: StateShape, delta: StateShape) => { update(delta: StateShape): void };
  readonly createEvent: (event: { id: string; author: string }) => Event;
}

/** The stored data before and after the retry, and the state of its handle. */
export interface RetryReport {
  readonly before: Session | undefined;
  readonly after: Session | undefined;
  readonly handle: StateShape;
}

const KEY = { appName: 'app', userId: 'user', sessionId: 'superseded' };

/** Two events with writes of the same keys, of which the second event's are the later ones. */
interface Scene {
  readonly service: SessionService;
  readonly session: Session;
  readonly older: Event;
  readonly newer: Event;
  /** Appends a copy of an event through another handle, like an attempt with a lost response. */
  land(event: Event): Promise<void>;
}

/** Each leaves both events stored, and gives those that are then appended again. */
const SCENES: Readonly<Record<string, (scene: Scene) => Promise<Event[]>>> = {
  async 'that was stored without them'({ service, session, older, newer }) {
    await service.appendEvent({ session, event: newer });
    await service.appendEvent({ session, event: older });
    return [older];
  },
  async 'that was stored without them in one write'({ service, session, older, newer }) {
    await Promise.all([newer, older].map((event) => service.appendEvent({ session, event })));
    return [older];
  },
  async 'that was stored with them, by an append whose answer was lost'(scene) {
    const { service, session, older, newer } = scene;
    await scene.land(older);
    await service.appendEvent({ session, event: newer });
    return [older];
  },
  async 'that was stored with them, in one write with the later event'(scene) {
    const { older, newer } = scene;
    await scene.land(older);
    await scene.land(newer);
    return [newer, older];
  },
  async 'that was stored before the later event in one write'({ service, session, older, newer }) {
    await Promise.all([older, newer].map((event) => service.appendEvent({ session, event })));
    return [older, newer];
  },
};

export const SUPERSEDED = Object.keys(SCENES);

/** Runs a scene on an empty storage, and appends its events again concurrently. */
export async function retrySuperseded(
  service: SessionService,
  { State, createEvent }: Package,
  name: string,
): Promise<RetryReport> {
  const session = await service.createSession({ ...KEY, state: { k: 'first' } });
  const writing = (id: string, delta: StateShape): Event => {
    const event = createEvent({ id, author: 'agent' });
    event.actions.stateDelta = {};
    new State(session.state, event.actions.stateDelta).update(delta);
    return event;
  };
  const older = writing('older', {
    zz: { y: 1, b: 1.5 },
    k: 'older',
    'user:k': 'older',
    a: 'older',
  });
  const newer = writing('newer', { k: 'newer', 'user:k': 'newer' });
  const land = async (event: Event): Promise<void> => {
    const other = await service.getSession(KEY);
    if (other !== undefined) {
      await service.appendEvent({ session: other, event: structuredClone(event) });
    }
  };
  const again = (await SCENES[name]?.({ service, session, older, newer, land })) ?? [];
  const before = await service.getSession(KEY);
  await Promise.all(again.map((event) => service.appendEvent({ session, event })));
  return { before, after: await service.getSession(KEY), handle: session.state };
}
