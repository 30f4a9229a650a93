/**
 * The answers to a write that a storage has applied before: a late request, or one that was sent twice. It changes
 * nothing.
 */
import { SessionError } from '../../values/errors/errors.js';
import type { MutationId } from '../../values/model/diagnostic.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { keyText } from '../../values/model/values/ids.js';
import type { Call } from '../call/call.js';
import type { SinceRequest, ReadSession } from '../read.js';
import { NEVER } from '../wasm/protocol.js';
import type { ReadyAppend } from '../write.js';
import type { RowsSince } from './changes.js';
import type { StorageKey } from './rows.js';
import {
  NO_REVISIONS,
  type Appended,
  type CreatedSession,
  type Deletion,
  type SharedRevisions,
  type Store,
} from './store.js';

/** The last mutation of a client that a storage has applied. */
interface AppliedMutation {
  readonly number: number;
  /** The revision at which its session was created; {@link UNKNOWN}, or {@link DELETED}. */
  readonly created: number;
}

/** The mutation does not say when its session was created. */
export const UNKNOWN = 0;
/** The mutation deleted its session, so no later session of that id is its own. */
export const DELETED = -1;

/** How long a storage keeps the last mutation of a client, in milliseconds: 30 days. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** The most clients whose mutations on one session, or on one shared state, are kept. */
export const MOST_CLIENTS = 32;

const createdOf = new WeakMap<SessionError, number>();

/** @throws SessionError if the storage has applied this mutation of the client, or a later one */
export function refuseApplied(mutation: MutationId, applied: AppliedMutation | undefined): void {
  if (applied === undefined || mutation.number > applied.number) return;
  const message = 'The write was applied before, and its session was deleted since.';
  const error = new SessionError('not_found', message, { mutation: 'applied' });
  createdOf.set(error, applied.created);
  throw error;
}

/** Runs a write. If the storage has applied it before, `answer` makes the result. */
async function unlessApplied<T>(
  write: () => Promise<T>,
  answer: (created: number, error: SessionError) => T | Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const created = createdOf.get(error as SessionError);
    if (created === undefined) throw error;
    return answer(created, error as SessionError);
  }
}

/**
 * Answers an append that was applied before with what its handle lacks.
 *
 * @param rowsSince reads the session with the events that were written after a revision
 */
export function appendOnce(
  append: (write: ReadyAppend) => Promise<Appended>,
  rowsSince: (request: SinceRequest) => Promise<RowsSince | undefined>,
  write: ReadyAppend,
): Promise<Appended> {
  if (write.mutation === undefined) return append(write);
  const { key, position } = write;
  const isKnown = position.kind === 'revision';
  // Without a handle nothing is missed. A handle from elsewhere may have missed all.
  const since = isKnown ? position.revision : position.kind === 'latest' ? NEVER : 0;
  const known = isKnown ? position.created : UNKNOWN;
  return sessionOnce(
    () => append(write),
    () => rowsSince({ key, since, created: undefined }),
    ({ created, revision, lastUpdateTime, state, events: missed }) => {
      const head = { created, revision, lastUpdateTime };
      const shared = NO_REVISIONS;
      return { ...head, since, shared, unchanged: [], missed, state, eventRevisions: [] };
    },
    known,
  );
}

/**
 * Runs a write of a session. If it was applied before, `answer` makes the result of the session, if that is still its
 * own.
 *
 * @param known the revision that created the session, if the caller knows it
 */
function sessionOnce<T, Session extends Pick<ReadSession, 'created'>>(
  write: () => Promise<T>,
  read: () => Promise<Session | undefined>,
  answer: (session: Session) => T,
  known = UNKNOWN,
): Promise<T> {
  return unlessApplied(write, async (created, error) => {
    const session = await read();
    const isOwn = (revision: number) => revision === UNKNOWN || revision === session?.created;
    if (session === undefined || !isOwn(created) || !isOwn(known)) throw error;
    return answer(session);
  });
}

/** Answers a creation that was applied before with the session, if it is still the one that it created. */
export function createOnce(
  create: () => Promise<CreatedSession | undefined>,
  read: () => Promise<ReadSession | undefined>,
): Promise<CreatedSession | undefined> {
  return sessionOnce(create, read, (session) => ({ ...session, shared: NO_REVISIONS }));
}

/** Answers a change of the title or the labels that was applied before. */
export function describeOnce(
  describe: () => Promise<boolean>,
  read: () => Promise<ReadSession | undefined>,
): Promise<boolean> {
  return sessionOnce(describe, read, () => true);
}

/** Answers a change of a shared state that was applied before. */
export function updateOnce(update: () => Promise<SharedRevisions>): Promise<SharedRevisions> {
  return unlessApplied(update, () => NO_REVISIONS);
}

/** Answers a deletion that was applied before. */
export function deleteOnce(remove: () => Promise<Deletion>): Promise<Deletion> {
  return unlessApplied(remove, () => ({ isDeleted: false }));
}

/** How often a session is read again that has changed before it was deleted. */
const MAX_ATTEMPTS = 100;

/**
 * Deletes a session if it is the one that was created at a revision: reads it, and deletes it if it has not changed.
 */
export async function deleteCreated(
  store: Pick<Store, 'read' | 'write'>,
  key: CompositeSessionKey,
  created: number,
  call: Call,
): Promise<Deletion> {
  for (let attempts = MAX_ATTEMPTS; attempts > 0; attempts -= 1) {
    const session = await store.read({ kind: 'window', key, last: 0 }, call);
    if (session?.created !== created) break;
    const { revision, labels } = session;
    const unchanged = { revision, labels };
    const write = { kind: 'delete', what: 'session', key, unchanged } as const;
    const deletion = await store.write(write, call);
    if (deletion.isDeleted) return deletion;
  }
  return { isDeleted: false };
}

interface TimedMutation extends AppliedMutation {
  readonly time: number;
}

/**
 * The last mutation of each client, in memory. Memory answers in the same tick, so nothing comes between the check
 * and the write.
 */
export class MemoryMutations {
  readonly #clock: () => number;
  /** By session or owner of a state, then by client; the one that was last written comes last in both. */
  readonly #applied = new Map<string, Map<string, TimedMutation>>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Runs a write that was not applied before, and keeps its mutation.
   *
   * @param createdOf returns the revision at which the session was created, from the result; `undefined`: the write
   *   was not applied
   */
  run<T>(
    key: StorageKey,
    mutation: MutationId | undefined,
    write: () => T,
    createdOf: (result: T) => number | undefined,
  ): T {
    if (mutation === undefined) return write();
    const name = keyText(key);
    const earlier = this.#applied.get(name)?.get(mutation.client);
    refuseApplied(mutation, earlier);
    const result = write();
    const created = createdOf(result);
    if (created === undefined) return result;
    const known = created === UNKNOWN ? (earlier?.created ?? UNKNOWN) : created;
    this.#keep(name, mutation, known);
    return result;
  }

  #keep(name: string, { client, number }: MutationId, created: number): void {
    const time = this.#clock();
    const clients = this.#applied.get(name) ?? new Map<string, TimedMutation>();
    this.#applied.delete(name);
    this.#applied.set(name, clients);
    clients.delete(client);
    clients.set(client, { number, created, time });
    const [oldest] = clients.keys();
    if (clients.size > MOST_CLIENTS) clients.delete(oldest!);
    for (const [name, clients] of this.#applied) {
      for (const [client, kept] of clients) {
        if (kept.time >= time - KEPT_MS) break;
        clients.delete(client);
      }
      if (clients.size > 0) break;
      this.#applied.delete(name);
    }
  }
}
