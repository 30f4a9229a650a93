// The statements of a deletion.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

const DELETIONS: Readonly<Record<string, (service: DatabaseSessionService) => Promise<unknown>>> = {
  deleteSession: (service) => service.deleteSession(KEY),
  deleteUser: (service) => service.deleteUser(USER),
  deleteUserState: (service) => service.deleteUserState(USER),
  deleteAppState: (service) => service.deleteAppState({ appName: 'app' }),
};

describe('A deletion', () => {
  for (const [name, remove] of Object.entries(DELETIONS)) {
    it(`reads nothing after its first write: ${name}`, async () => {
      const statements: string[] = [];
      const verbose = (text: unknown) => statements.push(String(text).trim().split(/\s/)[0] ?? '');
      const sqlite = new Sqlite(':memory:', { verbose });
      const service = new DatabaseSessionService({ sqlite });
      await service.createSession({ ...KEY, state: { 'user:a': 1, 'app:a': 1 } });
      statements.length = 0;
      await remove(service);
      const kinds = statements.slice(statements.lastIndexOf('begin') + 1);
      const firstWrite = kinds.findIndex((kind) => kind !== 'select');
      assert.ok(firstWrite > 0 && kinds.at(-1) === 'commit', kinds.join(' '));
      assert.equal(kinds.includes('select', firstWrite), false, kinds.join(' '));
      await service.close();
      sqlite.close();
    });
  }
});
