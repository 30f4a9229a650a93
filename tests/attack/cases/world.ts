// The sessions of some cases: the attacked session, and another one that must never change.

import { type BaseSessionService, createEvent, type Session } from 'adk-session-wasm';
import { caseKey, type Key, similarKey, type NameLimits } from './ids.js';
import { isSameJson, must, ownState, type Stored, storedOf } from './oracle.js';
import type { Random } from './random.js';

/** A storage under attack. */
export interface Target extends NameLimits {
  readonly name: string;
  open(): Promise<BaseSessionService>;
  /** Whether U+0000 is refused in texts, as by PostgreSQL and `SqliteSessionService`. */
  readonly refusesNulInText?: boolean;
  /** Whether `null` removes a key, as at Vertex AI. */
  readonly nullRemoves?: boolean;
}

export class World {
  readonly key: Key;
  readonly #other: Key;
  #otherBefore: Stored | undefined;
  #lastRead: Stored | undefined;
  /** Whether the next case needs new sessions, because this one may have stored an event with any id. */
  needsNewSessions = false;

  constructor(
    readonly service: BaseSessionService,
    readonly target: Target,
    public random: Random,
  ) {
    this.key = caseKey(random, `c${random.seed.toString(36)}x`, target);
    this.#other = similarKey(random, this.key, target);
    if (target.vertexIds) this.#other = { ...this.#other, sessionId: `${this.key.sessionId}o` };
  }

  /** Creates both sessions. @returns a handle of the attacked one */
  async begin(): Promise<Session> {
    const { service, key } = this;
    const other = await service.createSession({ ...this.#other, state: { kept: { by: 'other' } } });
    await service.appendEvent({ session: other, event: textEvent('other') });
    const session = await service.createSession({ ...key, state: { n: 0, nested: { a: [1] } } });
    must(session.id === key.sessionId, 'The session has the given id.', session.id);
    await service.appendEvent({ session, event: textEvent('first') });
    this.#otherBefore = await this.#readOther();
    return session;
  }

  async read(): Promise<Stored | undefined> {
    return storedOf(await this.service.getSession(this.key));
  }

  /** Reads the session after a case. The next case uses the result as its state before. */
  async readAgain(): Promise<Stored | undefined> {
    this.#lastRead = await this.read();
    return this.#lastRead;
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

  async requireOtherUntouched(): Promise<void> {
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
    await this.requireOtherUntouched();
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
