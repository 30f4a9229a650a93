/** The mutations of clients that a write has applied; see {@link MutationId}. */
import type { MutationId } from '../../../values/model/diagnostic.js';
import { KEPT_MS, MOST_CLIENTS, refuseApplied, UNKNOWN } from '../../../core/storage/mutations.js';
import type { Engine } from '../engine/engine.js';
import { MUTATIONS } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';
import { Prepared, type Query, type Steps } from '../engine/prepared.js';
import { isOfSession, type Key } from '../statements/session_statements.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The key of a row. A shared state has an empty session, and that of an app an empty user. */
interface MutationKey extends Key {
  client: string;
}

/** The driver of PostgreSQL returns a `bigint` as a text. */
interface MutationColumns {
  last_number: number | string;
  created: number | string;
}

/** Makes the statements of mutations. */
export function mutationStatements(
  database: Database,
  { queries: { hasOnConflict }, transactions: { lock } }: Engine,
) {
  const insert = new Prepared<MutationKey & { time: number }, never>((value) => {
    const row = database.insertInto(MUTATIONS).values({
      app_name: value('app'),
      user_id: value('user'),
      session_id: value('session'),
      client: value('client'),
      last_number: 0,
      created: UNKNOWN,
      update_time: value('time'),
    });
    return hasOnConflict
      ? row.onConflict((conflict) => conflict.doNothing())
      : row.onDuplicateKeyUpdate((of) => ({ last_number: of.ref('last_number') }));
  });
  return {
    insert,
    locked: new Prepared<MutationKey, MutationColumns>((value) => {
      const row = database
        .selectFrom(MUTATIONS)
        .select(['last_number', 'created'])
        .where(isOfSession(value))
        .where('client', '=', value('client'));
      return lock(row);
    }),
    update: new Prepared<MutationKey & { number: number; created: number; time: number }, never>(
      (value) =>
        database
          .updateTable(MUTATIONS)
          .set({
            last_number: value('number'),
            created: value('created'),
            update_time: value('time'),
          })
          .where(isOfSession(value))
          .where('client', '=', value('client')),
    ),
    clients: new Prepared<Key, { client: string }>((value) =>
      database
        .selectFrom(MUTATIONS)
        .select('client')
        .where(isOfSession(value))
        .orderBy('update_time')
        .orderBy('client'),
    ),
    deleteClient: new Prepared<MutationKey, never>((value) =>
      database
        .deleteFrom(MUTATIONS)
        .where(isOfSession(value))
        .where('client', '=', value('client')),
    ),
    deleteExpired: new Prepared<{ time: number }, never>((value) =>
      database.deleteFrom(MUTATIONS).where('update_time', '<', value('time')),
    ),
  };
}

/** A mutation whose row is locked until the transaction ends. */
export interface LockedMutation {
  /** Returns the query that keeps the mutation. `created` is that of the session, or `DELETED`. */
  readonly applied: (created?: number) => Query;
}

/**
 * Locks the row of a mutation before the write locks anything else, so that the same request cannot run twice at
 * once.
 *
 * @returns `undefined` if the write has no mutation
 * @throws SessionError if it was applied before
 */
export function* lockMutation(
  context: VerbContext,
  key: Key,
  mutation: MutationId | undefined,
): Steps<LockedMutation | undefined> {
  if (mutation === undefined) return undefined;
  const { clock, statements } = context;
  const { insert, locked, update } = statements(mutationStatements);
  const { client, number } = mutation;
  const time = Math.floor(clock());
  const row = { ...key, client };
  yield* insert.run({ ...row, time });
  const [stored] = yield* locked.run(row);
  const last = { number: Number(stored?.last_number ?? 0), created: Number(stored?.created ?? 0) };
  refuseApplied(mutation, last);
  if (last.number === 0) yield* removeOld(context, row, time);
  return {
    applied(created = UNKNOWN) {
      const known = created === UNKNOWN ? last.created : created;
      return update.of({ ...row, number, created: known, time });
    },
  };
}

/** Removes what is too old or too much, whenever a client writes for the first time. */
function* removeOld({ statements }: VerbContext, own: MutationKey, time: number): Steps<void> {
  const { clients, deleteClient, deleteExpired } = statements(mutationStatements);
  yield* deleteExpired.run({ time: time - KEPT_MS });
  const others = (yield* clients.run(own)).filter(({ client }) => client !== own.client);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - MOST_CLIENTS));
  for (const { client } of tooMany) yield* deleteClient.run({ ...own, client });
}
