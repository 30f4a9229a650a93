import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { sqliteFiles } from '../../../interop/database/shared_databases.js';
import { readVectors } from '../../../interop/history/vectors.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { expectedReads, readsOf } from './vector_reads.js';

describe('Each history has the same view whole, by windows, by pages and after a merge', () => {
  const newFile = sqliteFiles();
  const { length } = readVectors();

  it(`over memory, ${length} histories`, async () => {
    for (const vector of readVectors()) {
      const service = new InMemorySessionService();
      const expected = expectedReads(vector, 'all');
      assert.deepEqual(await readsOf(service, vector, 'all'), expected, vector.name);
    }
  });

  it(`over HTTP, ${length} histories`, async () => {
    for (const vector of readVectors()) {
      const handler = handlerOn(new InMemorySessionService());
      const service = new RemoteSessionService({ url: URL_OF_SERVER, fetch: fetchFrom(handler) });
      const expected = expectedReads(vector, 'some');
      assert.deepEqual(await readsOf(service, vector, 'some'), expected, vector.name);
      await service.close();
    }
  });

  it(`over SQLite, ${length} histories`, async () => {
    const service = new DatabaseSessionService((await newFile()).ours);
    for (const vector of readVectors()) {
      const expected = expectedReads(vector, 'some');
      assert.deepEqual(await readsOf(service, vector, 'some'), expected, vector.name);
    }
    await service.close();
  });
});
