/** The secret part of the name of the channel between the programs that share the tables. */
import { sql } from 'kysely';
import type { StorageCall } from '../../../values/model/diagnostic.js';
import { OwnFailure } from '../engine/failure.js';
import { runOnce, type Steps } from '../engine/prepared.js';
import type { VerbContext } from '../statements/verb_context.js';
import { METADATA, readMetadata } from '../tables/tables.js';

/** Runs steps in one transaction, which may be repeated. */
type Transact = <T>(
  mode: 'read' | 'write',
  steps: (context: VerbContext) => Steps<T>,
  call: StorageCall,
) => T | Promise<T>;

/**
 * Returns the secret that the metadata have. The first program writes it: of two that do so at once, both read the one
 * that was stored.
 */
export async function readChannelSecret(transact: Transact): Promise<string> {
  const read = (context: VerbContext) =>
    readMetadata(context.database, context.layout.metadata, METADATA.channel);
  const stored = await transact('read', read, {});
  if (stored !== undefined) return stored;
  const secret = randomSecret();
  await transact('write', (context) => insertSecret(context, secret), {});
  const written = await transact('read', read, {});
  if (written === undefined) throw new OwnFailure('the secret of the channel is gone', 'other');
  return written;
}

function* insertSecret({ engine, database, layout }: VerbContext, secret: string): Steps<void> {
  const into = sql`into ${sql.table(layout.metadata)} (${sql.ref('key')}, ${sql.ref('value')})
    values (${METADATA.channel}, ${secret})`;
  yield* runOnce(database, engine.queries.insertIfAbsent(into));
}

/** Returns 128 random bits as hexadecimal digits. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
