/** Makes the storage of a database. This module and what it imports need Kysely; {@link DatabaseToOpen} does not. */
import type { Address } from './engine/address.js';
import { connectKysely } from './connections/connect_kysely.js';
import { DatabaseStorage } from './database_storage.js';
import type { ConnectOptions } from './engine/connection.js';
import type { EngineKind } from './engine/engine.js';
import { ENGINES } from './engines/engines.js';
import type { DatabaseParts } from './lazy_database.js';
import { type Database, queryBuilder } from './tables/tables.js';

/** The checked options of a database. */
export interface DatabaseToOpen extends Omit<DatabaseParts, 'connect' | 'database' | 'engine'> {
  readonly kind: EngineKind;
  readonly from:
    | { readonly kysely: Database }
    | ({ readonly address: Address } & Pick<ConnectOptions, 'durability' | 'driverOptions'>);
}

/** Connects at the first verb of the storage. */
export function storageOf({ kind, from, ...parts }: DatabaseToOpen): DatabaseStorage {
  const engine = ENGINES[kind];
  const { waits } = parts;
  return new DatabaseStorage({
    ...parts,
    engine,
    database: 'kysely' in from ? from.kysely : queryBuilder(engine),
    connect: (onLost) =>
      'kysely' in from
        ? connectKysely(from.kysely, engine, waits)
        : engine.connect(from.address.location, { ...from, waits, onLost }),
  });
}
