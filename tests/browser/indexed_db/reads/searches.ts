// Searches in five languages. What letters and marks are, an engine knows by its own tables.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { sessionSearch } from 'adk-session-wasm/search';
import { type Context, inTab, newName } from '../context.js';

interface Searches {
  readonly texts: Readonly<Record<string, string>>;
  readonly queries: readonly { readonly query: string; readonly finds: readonly string[] }[];
}

/** What the tests call in the page. */
export const inPage = { searchAll };
type Page = typeof inPage;

export function searches(context: Context): void {
  it('queries in five languages find the same texts as in Node', async () => {
    const file = new URL('../../../vectors/searches.json', import.meta.url);
    const given = JSON.parse(readFileSync(file, 'utf8')) as Searches;
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(
        await tab.call('searchAll', newName(), given),
        given.queries.map(({ finds }) => ({ found: finds, titled: finds, isComplete: true })),
      );
    });
  });
}

/** Stores each text as a message, and as a title, and returns the sessions that each query finds. */
async function searchAll(name: string, { texts, queries }: Searches) {
  const user = { appName: 'shop', userId: 'ada' };
  const said = new IndexedDbSessionService({ name });
  const titled = new IndexedDbSessionService({ name: `${name} titles` });
  for (const [sessionId, text] of Object.entries(texts)) {
    const session = await said.createSession({ ...user, sessionId });
    const content = { role: 'user', parts: [{ text }] };
    await said.appendEvent({ session, event: { author: 'user', invocationId: 'i', content } });
    await titled.createSession({ ...user, sessionId, title: text });
  }
  const search = sessionSearch(said);
  const results = [];
  for (const { query } of queries) {
    const { hits, isComplete } = await search.find({ ...user, query });
    const { sessions } = await titled.listSessions({ ...user, title: query });
    results.push({
      found: hits.map(({ sessionId }) => sessionId).sort(),
      titled: sessions.map(({ id }) => id).sort(),
      isComplete,
    });
  }
  await said.close();
  await titled.close();
  return results;
}
