// Damaged records of a service: an adapter that returns wrong values, and changed rows of SQLite.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import Sqlite from 'better-sqlite3';

import { openSessionService, type StorageAdapter } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { mapAdapter } from '../../../examples/map_adapter.js';
import { damagedCase, WRONG_VALUES, objectsIn } from '../cases/damage.js';
import { Random } from '../cases/random.js';
import { repeat } from '../run.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-damage-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** An adapter whose next read has one wrong member. */
function damagingAdapter(): { adapter: StorageAdapter; damage: (random: Random) => void } {
  const adapter = mapAdapter();
  let random: Random | undefined;
  const damageOnce = <T>(rows: T): T => {
    if (random === undefined) return rows;
    const copy = structuredClone(rows) as object;
    const objects = objectsIn(copy);
    const target = random.pick(objects) as Record<string, unknown>;
    const field = random.pick(Object.keys(target));
    target[field] = random.pick(WRONG_VALUES);
    random = undefined;
    return copy as T;
  };
  return {
    damage: (next) => (random = next),
    adapter: {
      ...adapter,
      read: (request) => damageOnce(adapter.read(request)),
      list: (request) => damageOnce(adapter.list(request)),
      append: (request, decide) => adapter.append(request, (found) => decide(damageOnce(found))),
      create: (request, decide) => adapter.create(request, (found) => decide(damageOnce(found))),
    },
  };
}

repeat('damaged-map', 2000, async (seed) => {
  const { adapter, damage } = damagingAdapter();
  const service = await openSessionService({ storage: adapter });
  const random = new Random(seed);
  await damagedCase(service, random, () => damage(random), { isOnce: true });
  await service.close();
});

const COLUMNS = {
  events: ['event_data', 'timestamp', 'invocation_id', 'id'],
  sessions: ['state', 'create_time', 'update_time'],
  user_states: ['state', 'update_time'],
  app_states: ['state', 'update_time'],
};

repeat('damaged-sqlite', 500, async (seed) => {
  const file = join(folder, `${seed}.db`);
  const service = new DatabaseSessionService(`sqlite:${file}`, { durability: 'relaxed' });
  const random = new Random(seed);
  const damage = (): void => {
    const database = new Sqlite(file);
    const table = random.pick(Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]);
    const column = random.pick(COLUMNS[table]);
    const wrongValue = random.pick(WRONG_VALUES.filter((value) => typeof value === 'string' || typeof value === 'number' || value === null)); // prettier-ignore
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
  await damagedCase(service, random, damage, { isOnce: false });
  await service.close();
  rmSync(file, { force: true });
});
