// Damaged records of a service: a storage that returns wrong values, and changed rows of SQLite.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';

import { openSessionService } from 'adk-session-wasm';
import type { Storage } from 'adk-session-wasm/storage';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { wholeStorage } from '../../js/service/whole_storage.js';
import {
  type Damage,
  damagedCase,
  damagedSession,
  damageIn,
  damages,
  WRONG_VALUES,
} from '../cases/damage.js';
import { withstands } from '../run.js';
import { newFolder } from '../../new_folder.js';

const folder = newFolder();

/** A storage whose next read has one wrong member. */
function damagingStorage(): { storage: Storage; damage: (next: Damage) => void } {
  const storage = wholeStorage();
  let damage: Damage | undefined;
  const damageOnce = <T>(rows: T): T => {
    if (damage === undefined) return rows;
    const copy = structuredClone(rows) as object;
    damageIn(copy, damage);
    damage = undefined;
    return copy as T;
  };
  return {
    damage: (next) => (damage = next),
    storage: {
      ...storage,
      read: (request) => damageOnce(storage.read(request)),
      list: (request) => damageOnce(storage.list(request)),
      append: (request, decide) => storage.append(request, (found) => decide(damageOnce(found))),
      create: (request, decide) => storage.create(request, (found) => decide(damageOnce(found))),
    },
  };
}

withstands(
  'A storage with damaged rows',
  fc.asyncProperty(damagedSession, damages, async (session, wrong) => {
    const { storage, damage } = damagingStorage();
    const service = await openSessionService({ storage });
    await damagedCase(service, session, () => damage(wrong), { isOnce: true });
    await service.close();
  }),
  2000,
);

const COLUMNS = [
  ...['event_data', 'timestamp', 'invocation_id', 'id'].map(
    (column) => ['events', column] as const,
  ),
  ...['state', 'create_time', 'update_time'].map((column) => ['sessions', column] as const),
  ...['state', 'update_time'].map((column) => ['user_states', column] as const),
  ...['state', 'update_time'].map((column) => ['app_states', column] as const),
];
const SQL_VALUES = WRONG_VALUES.filter(
  (value) => typeof value === 'string' || typeof value === 'number' || value === null,
);
let files = 0;

withstands(
  'A SQLite file with damaged rows',
  fc.asyncProperty(
    damagedSession,
    fc.constantFrom(...COLUMNS),
    fc.constantFrom(...SQL_VALUES),
    async (session, [table, column], wrongValue) => {
      files += 1;
      const file = join(folder, `${files}.db`);
      const service = new DatabaseSessionService(`sqlite:${file}`, { durability: 'relaxed' });
      const damage = (): void => {
        const database = new Sqlite(file);
        const where = table === 'app_states' ? 'app_name' : 'user_id';
        const damaged = table === 'app_states' ? 'shop' : 'damaged';
        try {
          database.pragma('foreign_keys = off');
          database
            .prepare(`update ${table} set ${column} = ? where ${where} = ?`)
            .run(wrongValue, damaged);
        } catch {
          // A constraint of the table refused the value.
        }
        database.close();
      };
      await damagedCase(service, session, damage, { isOnce: false });
      await service.close();
      rmSync(file, { force: true });
    },
  ),
  500,
);
