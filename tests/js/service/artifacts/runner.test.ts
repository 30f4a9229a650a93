// A Runner of `@google/adk` over a service's files.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type BaseArtifactService,
  type Context,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
} from '@google/adk';
import { asAdkService } from '../../../../js/service/adk/index.js';
import { InMemorySessionService } from '../../../../js/index.js';

setLogLevel(LogLevel.ERROR);

describe('A Runner of @google/adk', () => {
  it('saves files with service.artifacts, and the event names their versions', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const artifactService: BaseArtifactService = service.artifacts;
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await service.createSession(key);
    const agent = new LlmAgent({
      name: 'painter',
      async beforeAgentCallback(context: Context) {
        const names = await context.listArtifacts();
        await context.saveArtifact('chart.txt', { text: `after ${names.join()}` });
        return { role: 'model', parts: [{ text: 'done' }] };
      },
    });
    const sessionService = asAdkService(service);
    const runner = new Runner({ appName: 'shop', agent, sessionService, artifactService });
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=', displayName: 'a.png' };
    const newMessage = { role: 'user', parts: [{ text: 'Look' }, { inlineData }] };
    const { userId, sessionId } = key;
    const runConfig = { saveInputBlobsAsArtifacts: true };
    const deltas = [];
    for await (const event of runner.runAsync({ userId, sessionId, newMessage, runConfig })) {
      deltas.push(event.actions.artifactDelta);
    }
    assert.deepEqual(deltas, [{ 'chart.txt': 0 }]);
    const { artifacts } = service;
    assert.deepEqual(await artifacts.listArtifactKeys(key), ['a.png', 'chart.txt']);
    const picture = await artifacts.open({ ...key, filename: 'a.png' });
    assert.deepEqual([picture?.type, picture?.size], ['image/png', 8]);
    const chart = await artifacts.loadArtifact({ ...key, filename: 'chart.txt' });
    assert.deepEqual(chart, { text: 'after a.png' });
    await service.close();
  });
});
