/** The mutations of clients that a write has applied; see {@link MutationId}. */
import { sql } from 'kysely';
import type { MutationId } from '../../../values/model/diagnostic.js';
import { KEPT_MS, MOST_CLIENTS, refuseApplied, UNKNOWN } from '../../../core/storage/mutations.js';
import type { Engine } from '../engine/engine.js';
import type { Layout } from '../tables/layout.js';
import { MUTATIONS } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';
import { type Guard, Prepared, type Query, type Steps, together } from '../engine/prepared.js';
import { guardStatement, isOfSession, type Key } from '../statements/session_statements.js';
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
  layout: Layout,
) {
  const guard = guardStatement<MutationKey>(database, layout, (value) =>
    database
      .selectFrom(MUTATIONS)
      .select(sql`cast(${sql.ref('last_number')} as text)`.as('last_number'))
      .where(isOfSession(value))
      .where('client', '=', value('client')),
  );
  const guardNumber: Guard<MutationKey, MutationColumns> = (key, [row]) =>
    guard(key, row && String(row.last_number));
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
    }, guardNumber),
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
  /** Returns the queries that keep the mutation. `created` is that of the session, or `DELETED`. */
  readonly applied: (created?: number) => Query[];
}

/**
 * Locks the row of a mutation before the write locks anything else, so that the same request cannot run twice at
 * once. An engine that `locksByInsert` inserts a missing row for that; any other writes nothing before the last request.
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
  const { clock, engine, statements } = context;
  const { locksByInsert } = engine.transactions;
  const { insert, locked, update } = statements(mutationStatements);
  const { client, number } = mutation;
  const time = Math.floor(clock());
  const row = { ...key, client };
  const missing = insert.of({ ...row, time });
  const [, [stored]] = yield* together([locksByInsert ? missing : undefined, locked.of(row)]);
  const last = { number: Number(stored?.last_number ?? 0), created: Number(stored?.created ?? 0) };
  refuseApplied(mutation, last);
  const removals = last.number === 0 ? yield* oldRows(context, row, time) : [];
  if (locksByInsert && removals.length > 0) yield* together(removals);
  return {
    applied(created = UNKNOWN) {
      const known = created === UNKNOWN ? last.created : created;
      const applied = update.of({ ...row, number, created: known, time });
      return locksByInsert ? [applied] : [missing, ...removals, applied];
    },
  };
}

/** Returns what removes the rows that are too old or too many, whenever a client writes for the first time. */
function* oldRows({ statements }: VerbContext, own: MutationKey, time: number): Steps<Query[]> {
  const { clients, deleteClient, deleteExpired } = statements(mutationStatements);
  const others = (yield* clients.run(own)).filter(({ client }) => client !== own.client);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - MOST_CLIENTS));
  return [
    deleteExpired.of({ time: time - KEPT_MS }),
    ...tooMany.map(({ client }) => deleteClient.of({ ...own, client })),
  ];
}
