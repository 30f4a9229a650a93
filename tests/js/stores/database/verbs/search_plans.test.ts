// The statements of a search: no planner may choose how it compares the sessions with the rows of their words.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../../js/service/search/index.js';
import { says } from '../../../service/fixture.js';

it('a search over a database joins no tables in SQL: without statistics PostgreSQL compares each row with each', async () => {
  const queries: string[] = [];
  const verbose = (query: string): number => queries.push(query);
  await using service = new DatabaseSessionService('sqlite:///:memory:', {
    driverOptions: { verbose },
  });
  const user = { appName: 'app', userId: 'ada' };
  const session = await service.createSession({ ...user, title: 'Tea' });
  await service.appendEvent({ session, event: says('Green tea') });
  const search = sessionSearch(service);
  await search.find({ ...user, query: 'tea' });
  queries.length = 0;
  const { hits } = await search.find({ ...user, query: 'absent' });
  assert.deepEqual(hits, []);
  const read = queries.filter((query) => query.startsWith('select'));
  for (const table of ['sessions', 'adk_session_wasm_details', 'adk_session_wasm_search']) {
    assert.ok(read.some((query) => query.includes(`from "${table}" where`), table));
  }
  for (const query of read) assert.doesNotMatch(query, /\b(?:join|union|from \()/);
});
