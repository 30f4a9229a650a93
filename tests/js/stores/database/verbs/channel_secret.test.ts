import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import type { Diagnostic } from '../../../../../js/index.js';
import {
  type DatabaseOptions,
  DatabaseSessionService,
} from '../../../../../js/service/database/index.js';
import { newFolder } from '../../../../new_folder.js';
import { Hub } from '../../../core/watch/hub.js';
import { failsWith } from '../../../fails_with.js';
import { KEY } from '../../../service/fixture.js';

const folder = newFolder();
let files = 0;

const newFile = (): string => join(folder, `${++files}.db`);

/** Returns the names of the channels that services of these options open, all at once. */
async function namesOf(file: string, ...options: readonly DatabaseOptions[]): Promise<string[]> {
  const hub = new Hub();
  const services = options.map(
    (each) => new DatabaseSessionService(`sqlite:${file}`, { ...each, channel: hub.open }),
  );
  for (const service of services) service.watch({ appName: 'shop' }, { onNotice: () => undefined });
  while (hub.names.length < services.length) await new Promise((done) => setTimeout(done));
  await Promise.all(services.map((service) => service.close()));
  return hub.names;
}

describe('The name of the channel of a database', () => {
  it('has 128 random bits, which all services over its tables share', async () => {
    const file = newFile();
    const names = await namesOf(file, {}, {}, {});
    const [first] = names;
    assert.match(first!, /^adk_session_wasm_[0-9a-f]{32}$/);
    assert.deepEqual(await namesOf(file, {}), [first]);
    assert.deepEqual(new Set(names), new Set([first]));
    assert.notDeepEqual(await namesOf(newFile(), {}), [first]);
  });

  it('is another one for tables of another prefix', async () => {
    const names = await namesOf(newFile(), {}, { tablePrefix: 'other_' });
    assert.equal(new Set(names).size, 2);
  });

  it('is in no database whose services have no channel', async () => {
    const file = newFile();
    const service = new DatabaseSessionService(`sqlite:${file}`);
    service.watch({ appName: 'shop' }, { onNotice: () => undefined });
    await service.createSession(KEY);
    await service.close();
    const database = new Sqlite(file);
    const rows = database.prepare("select * from adk_internal_metadata where key like '%channel'");
    assert.deepEqual(rows.all(), []);
    database.close();
  });

  it('cannot be stored in a database that can only be read: that is reported', async () => {
    const file = newFile();
    await new DatabaseSessionService(`sqlite:${file}`).createSession(KEY);
    const database = new Sqlite(file);
    database.exec('drop table adk_session_wasm_details');
    database.close();
    const told: Diagnostic[] = [];
    const { open, names } = new Hub();
    const service = new DatabaseSessionService(`sqlite:${file}`, {
      createTables: false,
      channel: open,
      onDiagnostic: (diagnostic) => told.push(diagnostic),
    });
    service.watch({ appName: 'shop' }, { onNotice: () => undefined });
    while (told.length === 0) await new Promise((done) => setTimeout(done));
    await service.close();
    assert.deepEqual(
      told.map((each) => each.kind === 'channel' && each.code),
      ['storage_unavailable'],
    );
    assert.deepEqual(names, []);
  });

  it('needs a function as channel', () => {
    for (const channel of ['postgresql://localhost', {}, null]) {
      assert.throws(
        () => new DatabaseSessionService('sqlite::memory:', { channel } as object),
        failsWith('invalid_argument', /channel/),
      );
    }
  });
});
