// Serialization failures, as PostgreSQL reports them at other isolation levels, and distributed databases with its protocol.
// A statement or the commit fails, and the service must retry the transaction.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
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

/** Later attempts give another transaction time to take a lock. */
const REFUSE_OFTEN = `
  create sequence attempts;
  create function refuse_often() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock(1);
    if nextval('attempts') <= 6 then
      raise exception 'restart transaction' using errcode = '40001';
    end if;
    return new;
  end $$;
  create trigger refused before insert on events for each row execute function refuse_often();`;

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

  it('a group is stored whole if another transaction locks a session between two of its attempts', async () => {
    const url = await newUrl();
    const service = open(url);
    const ids = ['free', 'locked'];
    const sessions = await Promise.all(
      ids.map((sessionId) => service.createSession({ ...KEY, sessionId })),
    );
    const [client, other] = [0, 1].map(() => new pg.Client({ connectionString: url })) as [pg.Client, pg.Client]; // prettier-ignore
    await Promise.all([client.connect(), other.connect()]);
    await client.query(`${REFUSE_OFTEN} select pg_advisory_lock(1)`);
    const appends = sessions.map((session) =>
      service.appendEvent({ session, event: eventOf('e', { n: 1 }) }),
    );
    await waiting(client, 1);
    await other.query('begin');
    const locked = other.query(`select 1 from sessions where id = 'locked' for update`);
    await waiting(client, 2);
    await client.query('select pg_advisory_unlock(1)');
    await locked;
    await appends[0];
    await other.query('commit');
    await appends[1];
    for (const sessionId of ids) {
      const stored = await service.getSession({ ...KEY, sessionId });
      assert.deepEqual([stored?.events.length, stored?.state], [1, { n: 1 }]);
    }
    await Promise.all([client.end(), other.end(), service.close()]);
  });
}

/** Waits until that many transactions wait for a lock. */
async function waiting(client: pg.Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length === count) return;
  }
}
