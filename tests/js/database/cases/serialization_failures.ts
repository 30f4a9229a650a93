// Serialization failures, as PostgreSQL reports them at other isolation levels, and distributed databases with its protocol.
// A statement or the commit fails, and the service must retry the transaction.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';

import type { DatabaseSessionService } from '../../../../js/database/index.js';
import { eventOf } from './concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** A rollback does not reset a sequence, so it counts the attempts. */
const REFUSE_TWICE = `
  create sequence attempts;
  create function refuse_twice() returns trigger language plpgsql as $$ begin
    if nextval('attempts') <= 2 then
      raise exception 'restart transaction' using errcode = '40001';
    end if;
    return new;
  end $$;`;

const TRIGGERS = {
  'in a statement': 'create trigger refused before insert on events',
  'at its commit':
    'create constraint trigger refused after insert on events deferrable initially deferred',
};

export function retriesSerializationFailures(
  newUrl: () => Promise<string>,
  open: (url: string) => DatabaseSessionService,
) {
  for (const [when, trigger] of Object.entries(TRIGGERS)) {
    it(`a transaction is retried after a serialization failure ${when}`, async () => {
      const url = await newUrl();
      const service = open(url);
      const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`${REFUSE_TWICE} ${trigger} for each row execute function refuse_twice()`);
      await service.appendEvent({ session, event: eventOf('e', { 'app:n': 1 }) });
      const { rows } = await client.query('select last_value from attempts');
      assert.deepEqual(rows, [{ last_value: '3' }]);
      await client.end();
      const stored = await service.getSession(KEY);
      assert.deepEqual([stored?.events.length, stored?.state], [1, { 'app:n': 1 }]);
      await service.close();
    });
  }
}
