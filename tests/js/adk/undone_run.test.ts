import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { FunctionTool, LlmAgent, Runner } from '@google/adk';

import { toolCall } from '../../../examples/demo/model_script.js';
import { mapStorage } from '../../../examples/map_storage.js';
import { ScriptedModel } from '../../../examples/demo/scripted_model.js';
import { asAdkService } from '../../../js/adk/index.js';
import { DatabaseSessionService } from '../../../js/database/index.js';
import { isSessionError } from '../../../js/errors/errors.js';
import { rewind } from '../../../js/history/index.js';
import { type Event, InMemorySessionService, openSessionService } from '../../../js/index.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** The appends of the run: the question, the call, its response, and the answer. */
const APPENDS = 4;

const services = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
  'a Map': () => openSessionService({ storage: mapStorage() }),
};

describe('A run that another tab rewinds', () => {
  for (const [name, open] of Object.entries(services)) {
    for (let at = 1; at < APPENDS; at += 1) {
      it(`leaves nothing that shows, over ${name}, rewound before its append ${at + 1}`, async () => {
        const service = await open();
        after(() => service.close());
        await service.createSession(key);
        const adkService = asAdkService(service);
        const append = adkService.appendEvent.bind(adkService);
        let appends = 0;
        const answer = { id: 'edited', invocationId: 'i2', author: 'user' };
        adkService.appendEvent = async (request) => {
          if (request.event.partial !== true && appends++ === at) {
            const before = { invocationId: request.event.invocationId };
            await rewind(service, { ...key, before });
            const session = await service.getSession(key);
            assert.ok(session);
            await service.appendEvent({ session, event: answer });
          }
          return append(request);
        };
        const tool = new FunctionTool({
          name: 'look',
          description: 'looks',
          execute: () => ({ seen: 'SECRET' }),
        });
        const model = new ScriptedModel([toolCall('look'), 'The SECRET answer']);
        const agent = new LlmAgent({ name: 'desk', model, tools: [tool] });
        const runner = new Runner({ appName: key.appName, agent, sessionService: adkService });
        const newMessage = { role: 'user', parts: [{ text: 'A SECRET question' }] };
        const run = async (): Promise<void> => {
          const events = runner.runAsync({ ...key, newMessage });
          for await (const { errorMessage } of events) assert.equal(errorMessage, undefined);
        };
        await assert.rejects(run(), (error) => {
          return isSessionError(error) && error.staleReason === 'undone';
        });
        for (const view of ['transcript', 'model'] as const) {
          const shown = await service.getSession({ ...key, config: { view } });
          const ids = shown?.events.map(({ id }: Event) => id);
          assert.deepEqual(ids, ['edited']);
        }
        const raw = await service.getSession(key);
        assert.equal(raw?.events.length, at + 2);
      });
    }
  }
});
