import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { exportSession, importSession } from '../../../../js/service/files/index.js';
import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import { DIALECTS } from './dialects.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** Members that an append stores to the letter, although no ADK writes them so. */
const MEMBERS: object[] = [
  ...[{ inlineData: 1, inline_data: 2 }, { parts: 'text' }, { parts: { text: 'x' } }].map((content) => ({ content })),
  { content: { parts: [7, 'text', [], [null]], role: 7 } },
  ...['text', 7, [], [{ startTimestamp: 1 }], { startTimestamp: 'now', endTimestamp: [] }].map(
    (compaction) => ({ actions: { stateDelta: {}, compaction } }),
  ),
  { actions: { stateDelta: {}, compaction: { startTimestamp: -1, endTimestamp: 2 ** 53 } } },
  { actions: { stateDelta: {}, artifactDelta: 7, requestedAuthConfigs: [], transferToAgent: {} } },
  { longRunningToolIds: 'all', customMetadata: 7, usageMetadata: 'none', branch: [], author: 7, invocationId: {} },
]; // prettier-ignore

describe('A session with unusual events', () => {
  for (const members of MEMBERS) {
    it(`survives export and import: ${JSON.stringify(members)}`, async () => {
      const source = new InMemorySessionService();
      const session = await source.createSession(KEY);
      const timestamp = 1_700_000_000_000;
      const event = { ...createEvent({ id: 'e1', timestamp }), ...members };
      await source.appendEvent({ session, event });
      const before = await source.getSession(KEY);
      for (const dialect of DIALECTS) {
        const file = JSON.stringify(await exportSession(source, KEY, dialect));
        const target = new InMemorySessionService();
        await importSession(target, file, { timeUnit: dialect.timeUnit });
        assert.deepEqual(await target.getSession(KEY), before, file);
      }
    });
  }
});

it('A session file with too many levels is refused', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const file = JSON.stringify({ ...KEY, id: 's1', state: {}, events: [] }).replace('{}', deep);
  const importing = importSession(new InMemorySessionService(), file);
  await assert.rejects(importing, { code: 'unserializable', message: /too many levels/ });
});
