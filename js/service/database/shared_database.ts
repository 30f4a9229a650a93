import type { DatabaseToOpen } from '../../stores/database/database_storage.js';
import { isDurable } from '../../stores/database/engine/address.js';
import type { OptimisticDriver } from '../../stores/database/engine/optimistic_driver.js';

/** Stands for all addresses beside the pools, connections and drivers that programs give. */
const ADDRESSES = {};

/** By what the database was given as: an object for each of its sets of tables. */
const databases = new WeakMap<object, Map<string, object>>();

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

/** Returns the object that stands for the tables of a database; `undefined` for a database in memory. See `Core`. */
export function sharedDatabase(database: DatabaseToOpen): object | undefined {
  const { from, names } = database;
  if ('address' in from && !isDurable(from.address)) return undefined;
  const given = 'kysely' in from ? from.kysely : 'sqlite' in from ? from.sqlite : undefined;
  const owner = given ?? ('driver' in from ? from.driver : (optionsOf(database) ?? ADDRESSES));
  const address = 'address' in from ? [from.address.kind, from.address.location] : [];
  const tables = JSON.stringify([...address, names.schema, names.prefix]);
  const known = databases.get(owner) ?? new Map<string, object>();
  databases.set(owner, known);
  const shared = known.get(tables) ?? {};
  known.set(tables, shared);
  return shared;
}
