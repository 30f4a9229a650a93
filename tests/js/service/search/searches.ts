import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import type { SessionService } from '../../../../js/index.js';
import { sessionSearch } from '../../../../js/service/search/index.js';
import { APP, says } from '../fixture.js';

const file = new URL('../../../vectors/searches.json', import.meta.url);
const { texts, queries } = JSON.parse(readFileSync(file, 'utf8')) as {
  texts: Record<string, string>;
  queries: { query: string; finds: string[] }[];
};

export const TEXTS: readonly string[] = Object.values(texts);

/** Requires that each query finds its texts: as messages of one user, and as titles of another. */
export async function requireSearches(service: SessionService): Promise<void> {
  const said = { ...APP, userId: 'said' };
  const titled = { ...APP, userId: 'titled' };
  for (const [sessionId, text] of Object.entries(texts)) {
    const session = await service.createSession({ ...said, sessionId });
    await service.appendEvent({ session, event: says(text) });
    await service.createSession({ ...titled, sessionId, title: text });
  }
  const search = sessionSearch(service);
  for (const { query, finds } of queries) {
    for (const user of [said, titled]) {
      const { hits, isComplete } = await search.find({ ...user, query });
      assert.deepEqual(hits.map(({ sessionId }) => sessionId).sort(), finds, query);
      assert.ok(isComplete);
      assert.ok(hits.every(({ snippet }) => snippet.some(({ isHit }) => isHit)));
    }
    const { sessions } = await service.listSessions({ ...titled, title: query });
    assert.deepEqual(sessions.map(({ id }) => id).sort(), finds, `title: ${query}`);
  }
  await service.close();
}
