// The same histories over memory: each write once, in the order in which the writes have reached the server, and by
// somebody who sees and may write everything.

import { requireHistory } from '../../../js/core/history/histories.js';
import { branches, fork, type ForkRequest, stateAt } from '../../../js/core/history/index.js';
import { rewindTargetOf } from '../../../js/values/model/event/markers.js';
import { type CompositeSessionKey, type Event, InMemorySessionService, type Session, type SessionService, type StateShape } from '../../../js/index.js'; // prettier-ignore
import type { RewindWrite } from '../../../js/core/history_types.js';
import { canonical, difference } from '../model/canonical.js';
import { APP, SECRET } from './device.js';

/** The state that the session `s` was created with. */
export const INITIAL: StateShape = {
  k: 'initial',
  nothing: null,
  credential: { authType: 'http', accessToken: `${SECRET}0`, name: 'initial' },
};

export class Reference {
  readonly service: InMemorySessionService;
  /** The sessions that steps fork, with those that they are forked from. */
  readonly forks = new Map<string, ForkRequest>();
  readonly #events = new Map<string, Event>();
  readonly #rewinds = new Map<string, RewindWrite>();

  constructor(clock: () => number) {
    this.service = new InMemorySessionService({ clock, autoTitle: true });
  }

  /** Notes what somebody means to append. */
  expect(events: readonly Event[]): void {
    for (const event of events) this.#events.set(event.id, structuredClone(event));
  }

  /** Notes a rewind that somebody asks for. */
  expectRewind(write: RewindWrite): void {
    this.#rewinds.set(write.marker.id, write);
  }

  /**
   * Takes what the sessions at the server have and these have not, and compares them.
   *
   * @returns what is wrong
   */
  async follow(
    server: SessionService,
    userId: string,
    sessionIds: readonly string[],
  ): Promise<string | undefined> {
    const followed: { readonly key: CompositeSessionKey; readonly session: Session }[] = [];
    for (const sessionId of sessionIds) {
      const key = { appName: APP, userId, sessionId };
      const session = await server.getSession(key);
      if (session === undefined) continue;
      const problem = await this.#takeAll(key, session);
      if (problem !== undefined) return `${sessionId}: ${problem}`;
      followed.push({ key, session });
    }
    for (const { key, session } of followed) {
      const [actual, expected] = [
        contentOf(session),
        contentOf((await this.service.getSession(key))!),
      ];
      if (actual === expected) continue;
      return `${key.sessionId} differs from the one over memory: it is ${difference(actual, expected)}`;
    }
    return undefined;
  }

  async #takeAll(key: CompositeSessionKey, { events }: Session): Promise<string | undefined> {
    let own = (await this.service.getSession(key)) ?? (await this.#create(key));
    for (const event of events) {
      if (own.events.some(({ id }) => id === event.id)) continue;
      const problem = await this.#take(key, event);
      if (problem !== undefined) return problem;
      own = (await this.service.getSession(key))!;
    }
    return undefined;
  }

  /** Compares what readers are shown of all histories. @returns what is wrong */
  async compare(
    server: SessionService,
    userId: string,
    sessionIds: readonly string[],
  ): Promise<string | undefined> {
    const problem = await this.follow(server, userId, sessionIds);
    if (problem !== undefined) return problem;
    for (const sessionId of sessionIds) {
      const key = { appName: APP, userId, sessionId };
      const transcript = await server.getSession({ ...key, config: { view: 'transcript' } });
      if (transcript === undefined) continue;
      const texts = transcript.events.flatMap(({ author, content }) =>
        author === 'user' ? (content?.parts ?? []).flatMap(({ text }) => text ?? []) : [],
      );
      const twice = texts.find((text, place) => texts.indexOf(text) !== place);
      if (twice !== undefined) return `${sessionId} shows ${twice} twice: ${texts.join()}`;
      const [actual, expected] = [await shownBy(server, key), await shownBy(this.service, key)];
      if (actual === expected) continue;
      return `${sessionId} is not shown as over memory, but ${difference(actual, expected)}`;
    }
    return undefined;
  }

  async #create(key: CompositeSessionKey): Promise<Session> {
    const request = this.forks.get(key.sessionId);
    if (request !== undefined) return fork(this.service, request);
    return this.service.createSession({ ...key, state: key.sessionId === 's' ? INITIAL : {} });
  }

  async #take(key: CompositeSessionKey, event: Event): Promise<string | undefined> {
    const { id, author, content } = event;
    if (rewindTargetOf(event) !== undefined) {
      const write = this.#rewinds.get(id);
      if (write === undefined) return `nobody has asked for the rewind ${id}`;
      await requireHistory(this.service).rewind({ ...write, kind: 'rewind', key });
      return undefined;
    }
    let meant = this.#events.get(id);
    // A change of the state draws the id of its event itself.
    if (meant === undefined && author === 'user' && content === undefined) meant = event;
    if (meant === undefined) return `nobody has written the event ${id}, ${canonical(event)}`;
    const session = (await this.service.getSession(key))!;
    await this.service.appendEvent({ session, event: this.#withoutOvertaken(meant, event) });
    return undefined;
  }

  /** Leaves out values of shared keys that a later event has replaced: a cache does not send them after that event. */
  #withoutOvertaken(meant: Event, { actions: { stateDelta: stored } }: Event): Event {
    const taken = structuredClone(meant);
    const all = [...this.#events.values()];
    const later = all.slice(all.findIndex(({ id }) => id === meant.id) + 1);
    const { stateDelta } = taken.actions;
    for (const key of Object.keys(stateDelta)) {
      if (!/^(user|app):/.test(key) || key in stored) continue;
      const isOvertaken = later.some(({ actions }) => key in actions.stateDelta);
      if (isOvertaken) Reflect.deleteProperty(stateDelta, key);
    }
    return taken;
  }
}

/** The transcript, the branches, and the states after each event of the transcript. */
export async function shownBy(service: SessionService, key: CompositeSessionKey): Promise<string> {
  const transcript = await service.getSession({ ...key, config: { view: 'transcript' } });
  const { events = [] } = transcript ?? {};
  const states = await Promise.all(
    events.map(({ id }) => stateAt(service, { ...key, eventId: id })),
  );
  return canonical([transcript && contentOf(transcript), await branches(service, key), states]);
}

/** The content of a session, without times and without the server's mark of events that came from outside. */
function contentOf({ title, state, parent, events }: Session): string {
  const shown = events.map((event) => ({ ...event, timestamp: 0, customMetadata: undefined }));
  return canonical({ title, state, parent, events: shown });
}
