// SQLite needs a file beside one in WAL mode, also to read it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { newFolder } from '../../../../new_folder.js';
import { LOADER } from '../../../loader.js';

const NOBODY = '65534';
const folder = newFolder();
const path = join(folder, 'sessions.db');

before(async () => {
  await using service = new DatabaseSessionService(`sqlite:${path}`);
  await service.createSession({ appName: 'app', userId: 'ada', sessionId: 's1' });
});

for (const [what, mode, outcome] of [
  // First: a reader may leave the files that the next one needs.
  ['is not read in a folder that cannot be written', 0o555, 'storage_unavailable'],
  ['is read in a writable folder', 0o777, 's1'],
] as const) {
  it(`a SQLite file in WAL mode ${what}`, () => {
    chmodSync(path, 0o666);
    chmodSync(folder, mode);
    const program = fileURLToPath(import.meta.resolve('../programs/unwritable_folder.js'));
    const { stdout, stderr } = spawnSync(process.execPath, [...LOADER, program, path, NOBODY], {
      encoding: 'utf8',
    });
    chmodSync(folder, 0o777);
    assert.notEqual(stdout, '', stderr);
    assert.equal(JSON.parse(stdout), outcome);
  });
}
