// The sessions of some cases: the attacked session, and another one that must never change.

import { type SessionService, createEvent, type Session } from 'adk-session-wasm';
import { type Key, type NameLimits, type Names, similarKey, uniqueKey } from './ids.js';
import { isSameJson, must, ownState, present, type Stored, storedOf } from './oracle.js';

/** A storage under attack. */
export interface Target extends NameLimits {
  readonly name: string;
  open(): Promise<SessionService>;
  /** Whether U+0000 is refused in texts, as by PostgreSQL and `SqliteSessionService`. */
  readonly refusesNulInText?: boolean;
  /** Whether `null` removes a key, as at Vertex AI. */
  readonly nullRemoves?: boolean;
}

let worlds = 0;

export class World {
  readonly key: Key;
  readonly #other: Key;
  /** A handle that no case has touched. */
  #handle: Session | undefined;
  #otherBefore: Stored | undefined;
  #lastRead: Stored | undefined;
  /** Whether the next case needs new sessions, because this one may have stored an event with any id. */
  needsNewSessions = false;

  private constructor(
    readonly service: SessionService,
    readonly target: Target,
    names: Names,
  ) {
    worlds += 1;
    this.key = uniqueKey(names, `c${worlds.toString(36)}x`, target);
    this.#other = similarKey(this.key, names.similar, target);
    if (target.vertexIds) this.#other = { ...this.#other, sessionId: `${this.key.sessionId}o` };
  }

  /** Creates both sessions. */
  static async begin(service: SessionService, target: Target, names: Names): Promise<World> {
    const world = new World(service, target, names);
    const { key } = world;
    const state = { kept: { by: 'other' } };
    const other = await service.createSession({ ...world.#other, state });
    await service.appendEvent({ session: other, event: textEvent('other') });
    const session = await service.createSession({ ...key, state: { n: 0, nested: { a: [1] } } });
    must(session.id === key.sessionId, 'The session has the given id.', session.id);
    await service.appendEvent({ session, event: textEvent('first') });
    world.#handle = session;
    world.#otherBefore = await world.#readOther();
    return world;
  }

  get handle(): Session {
    return present(this.#handle);
  }

  /** Checks that the next append is stored once. Its handle is that of the next case. */
  async requireNextCallWorks(): Promise<void> {
    const { service, key } = this;
    const session = present(await service.getSession(key));
    const event = textEvent(freshId());
    await service.appendEvent({ session, event });
    this.#lastRead = await this.read();
    const stored = present(this.#lastRead).events;
    const times = stored.filter((one) => (one as { id: string }).id === event.id).length;
    must(times === 1, 'The next append is stored once.', stored);
    this.#handle = session;
  }

  async read(): Promise<Stored | undefined> {
    return storedOf(await this.service.getSession(this.key));
  }

  /** Returns the session before a case. Call this once per case, before anything is written. */
  async readBefore(): Promise<Stored | undefined> {
    const last = this.#lastRead;
    this.#lastRead = undefined;
    return last ?? (await this.read());
  }

  async #readOther(): Promise<Stored | undefined> {
    return storedOf(await this.service.getSession(this.#other));
  }

  async #requireOtherUntouched(): Promise<void> {
    const now = await this.#readOther();
    const before = this.#otherBefore;
    must(
      now !== undefined &&
        before !== undefined &&
        isSameJson(ownState(now.state), ownState(before.state)) &&
        isSameJson(now.events, before.events),
      'Other sessions do not change.',
      now,
    );
  }

  /** Deletes both sessions. Checks that a deletion deletes nothing else. */
  async end(): Promise<void> {
    const { service } = this;
    await service.deleteSession(this.key);
    must((await this.read()) === undefined, 'A deleted session cannot be read.');
    await this.#requireOtherUntouched();
    await service.deleteSession(this.#other);
  }
}

export function textEvent(id: string): ReturnType<typeof createEvent> {
  return createEvent({
    id,
    author: 'user',
    invocationId: 'i',
    timestamp: 1_600_000_000_000,
    content: { parts: [{ text: `event ${id}` }] },
  });
}

let count = 0;

/** A unique id for an event. It does not depend on the seed. */
export function freshId(): string {
  count += 1;
  return `e${count}`;
}
