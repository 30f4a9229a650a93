import type { DatabaseToOpen } from '../../stores/database/database_storage.js';
import { isDurable } from '../../stores/database/engine/address.js';
import type { OptimisticDriver } from '../../stores/database/engine/optimistic_driver.js';

/** Stands for all addresses beside the pools, connections and drivers that programs give. */
const ADDRESSES = {};

/** A set of tables that services have. */
interface SharedTables {
  /** Stands for them. */
  readonly storage: object;
  /** The number of services that have them and are not closed. */
  users: number;
}

/** By what the database was given as: its sets of tables that services have. */
const databases = new WeakMap<object, Map<string, SharedTables>>();

/** The drivers of hosts whose requests meet several processes as a rule. */
const driversOfMany = new WeakSet<OptimisticDriver>();

/** Notes that several processes have the database of a driver as a rule. */
export function noteManyProcesses(driver: OptimisticDriver): void {
  driversOfMany.add(driver);
}

/** See `Core`. */
export function hasOtherProcesses({ from }: DatabaseToOpen): boolean {
  return 'driver' in from && driversOfMany.has(from.driver);
}

/** Returns the options of a driver, which may name another database than the address does. */
function optionsOf({ from }: DatabaseToOpen): object | undefined {
  const { driverOptions = {} } = 'address' in from ? from : {};
  return Object.keys(driverOptions).length > 0 ? driverOptions : undefined;
}

/** The tables of a service, which other services of this process may share. The first read of `storage` takes them. */
export class DatabaseUse {
  readonly #database: DatabaseToOpen;
  #tables: { readonly storage: object; readonly release: () => void } | undefined;

  constructor(database: DatabaseToOpen) {
    this.#database = database;
  }

  /** Stands for the tables; `undefined` for a database in memory. See `Core`. */
  get storage(): object | undefined {
    const { from } = this.#database;
    if ('address' in from && !isDurable(from.address)) return undefined;
    return (this.#tables ??= takeTables(this.#database)).storage;
  }

  /** Call it once, when the service is closed. With the last service the tables are forgotten. */
  release(): void {
    this.#tables?.release();
  }
}

function takeTables(database: DatabaseToOpen) {
  const { from, names } = database;
  const given = 'kysely' in from ? from.kysely : 'sqlite' in from ? from.sqlite : undefined;
  const owner = given ?? ('driver' in from ? from.driver : (optionsOf(database) ?? ADDRESSES));
  const address = 'address' in from ? [from.address.kind, from.address.location] : [];
  const name = JSON.stringify([...address, names.schema, names.prefix]);
  const known = databases.get(owner) ?? new Map<string, SharedTables>();
  databases.set(owner, known);
  const tables = known.get(name) ?? { storage: {}, users: 0 };
  known.set(name, tables);
  tables.users += 1;
  const release = (): void => {
    tables.users -= 1;
    if (tables.users === 0) known.delete(name);
  };
  return { storage: tables.storage, release };
}
