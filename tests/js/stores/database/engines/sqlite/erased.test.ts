import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../../js/service/database/index.js';
import { newFolder } from '../../../../../new_folder.js';
import { eventOf } from '../../cases/concurrency.js';

it('deleteSession leaves nothing of texts, states and files in a SQLite file', async () => {
  const path = join(newFolder(), 'sessions.db');
  const service = new DatabaseSessionService(`sqlite:///${path}`, { artifacts: true });
  const user = { appName: 'shop', userId: 'ada' };
  const key = { ...user, sessionId: 'gone' };
  const SECRETS = ['text of an event', 'value of a state', 'bytes of a file', 'a large file'];
  const [text, value, small, large] = SECRETS;
  await service.createSession({ ...user, sessionId: 'kept', state: { kept: 'what is kept' } });
  const session = await service.createSession({ ...key, state: { value } });
  for (const id of ['1', '2', '3']) {
    const event = { ...eventOf(id), content: { parts: [{ text: `${text} `.repeat(3000) }] } };
    await service.appendEvent({ session, event });
  }
  const put = (filename: string, data: Blob) => service.artifacts.put({ ...key, filename, data });
  await put('small', new Blob([small!]));
  await put('large', new Blob([`${large} `.repeat(100_000)]));
  await service.deleteSession(key);
  // The write-ahead log goes with the last connection.
  await service.close();
  const bytes = readFileSync(path);
  assert.ok(bytes.includes('what is kept'));
  assert.deepEqual(
    SECRETS.filter((secret) => bytes.includes(secret)),
    [],
  );
});
