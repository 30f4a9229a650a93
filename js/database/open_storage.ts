/** Makes the storage of a database. This module and what it imports need Kysely; {@link DatabaseToOpen} does not. */
import type { Database } from './tables/tables.js';
import type { Address } from './engines/address.js';
import { connect, connectKysely, type ConnectOptions } from './connections/connect.js';
import { DatabaseStorage } from './database_storage.js';
import type { EngineKind } from './engines/engine.js';
import { ENGINES } from './engines/engines.js';
import type { DatabaseParts } from './lazy_database.js';

/** The checked options of a database. */
export interface DatabaseToOpen extends Omit<DatabaseParts, 'connect' | 'engine'> {
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
    connect: (onLost) =>
      'kysely' in from
        ? connectKysely(from.kysely, engine, waits)
        : connect(from.address, { ...from, waits, onLost }),
  });
}
