// The sessions of some cases: the one that is attacked, and one beside it that must never change.

import { type BaseSessionService, createEvent, type Session } from 'adk-session-wasm';
import { caseKey, type Key, lookAlike, type NameLimits } from './ids.js';
import { isSameJson, must, ownState, type Stored, storedOf } from './oracle.js';
import type { Random } from './random.js';

/** A storage under attack. */
export interface Target extends NameLimits {
  readonly name: string;
  open(): Promise<BaseSessionService>;
  /** Whether U+0000 is refused in texts, as PostgreSQL and `SqliteSessionService` do it. */
  readonly refusesNulInText?: boolean;
  /** Whether a key that is `null` is removed, as at Vertex AI. */
  readonly nullRemoves?: boolean;
}

export class World {
  readonly key: Key;
  readonly #other: Key;
  #otherBefore: Stored | undefined;
  #lastRead: Stored | undefined;
  /** Whether the next case needs other sessions, since this one may have stored an event of any id. */
  isSpent = false;

  constructor(
    readonly service: BaseSessionService,
    readonly target: Target,
    public random: Random,
  ) {
    this.key = caseKey(random, `c${random.seed.toString(36)}x`, target);
    this.#other = lookAlike(random, this.key, target);
    if (target.vertexIds) this.#other = { ...this.#other, sessionId: `${this.key.sessionId}o` };
  }

  /** Makes both sessions. @returns a handle on the attacked one */
  async begin(): Promise<Session> {
    const { service, key } = this;
    const other = await service.createSession({ ...this.#other, state: { kept: { by: 'other' } } });
    await service.appendEvent({ session: other, event: said('other') });
    const session = await service.createSession({ ...key, state: { n: 0, nested: { a: [1] } } });
    must(session.id === key.sessionId, 'An id is kept as it was given.', session.id);
    await service.appendEvent({ session, event: said('first') });
    this.#otherBefore = await this.#readOther();
    return session;
  }

  async read(): Promise<Stored | undefined> {
    return storedOf(await this.service.getSession(this.key));
  }

  /** Reads the session for the check behind a case, whose result the next case begins with. */
  async readAgain(): Promise<Stored | undefined> {
    this.#lastRead = await this.read();
    return this.#lastRead;
  }

  /** The session as it is before a case. Call it once a case, before anything is written. */
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
      'Another session is as it was.',
      now,
    );
  }

  /** Takes both away again; what is deleted is gone, and nothing else. */
  async end(): Promise<void> {
    const { service } = this;
    await service.deleteSession(this.key);
    must((await this.read()) === undefined, 'A deleted session is gone.');
    await this.requireOtherUntouched();
    await service.deleteSession(this.#other);
  }
}

export function said(id: string): ReturnType<typeof createEvent> {
  return createEvent({
    id,
    author: 'user',
    invocationId: 'i',
    timestamp: 1_600_000_000_000,
    content: { parts: [{ text: `event ${id}` }] },
  });
}
