import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { exportSession, importSession } from '../../../../js/service/files/index.js';
import { compactionOf } from '../../../../js/values/model/event/markers.js';
import { InMemorySessionService } from '../../../../js/index.js';

// A session as adk-go prints it: RFC 3339 times, also in the compaction, whose summary does not stand for one event.
const FILE = readFileSync(new URL('../../../vectors/go_compaction.json', import.meta.url), 'utf8');
const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

async function imported(): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  await importSession(service, FILE);
  return service;
}

describe('A session file of adk-go with a compaction', () => {
  it('is read with the longest part of the range that has no excluded event', async () => {
    const { events } = (await (await imported()).getSession(KEY))!;
    const compaction = compactionOf(events.find(({ id }) => id === 'e5')!);
    assert.deepEqual(compaction, {
      startTimestamp: Date.parse('2026-08-20T15:30:01Z'),
      endTimestamp: Date.parse('2026-08-20T15:30:02.5Z'),
      compactedContent: { parts: [{ text: 'They talk about tea.' }], role: 'model' },
    });
  });

  it('is shown to models with the summary and the excluded event', async () => {
    const service = await imported();
    const { events } = (await service.getSession({ ...KEY, config: { view: 'model' } }))!;
    assert.deepEqual(
      events.map(({ id }) => id),
      ['adk-view:e5', 'e3', 'e4', 'e6'],
    );
  });

  it('is exported for Python with seconds and without a field that Python refuses', async () => {
    const file = await exportSession(await imported(), KEY, { timeUnit: 'seconds' });
    const { events } = JSON.parse(JSON.stringify(file)) as {
      events: { id: string; actions: { compaction?: object } }[];
    };
    assert.deepEqual(events.find(({ id }) => id === 'e5')?.actions.compaction, {
      startTimestamp: Date.parse('2026-08-20T15:30:01Z') / 1000,
      endTimestamp: Date.parse('2026-08-20T15:30:02.5Z') / 1000,
      compactedContent: { parts: [{ text: 'They talk about tea.' }], role: 'model' },
    });
  });
});
