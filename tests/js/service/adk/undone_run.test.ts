import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import {
  FunctionTool,
  LlmAgent,
  type LlmAgentConfig,
  Runner,
  TrajectoryThoughtPruningCompactor,
} from '@google/adk';

import { toolCall } from './model_script.js';
import { mapStorage } from '../../../../examples/map_storage.js';
import { ScriptedModel } from './pairing/scripted_model.js';
import {
  asAdkService,
  type FrameworkSessionService,
  runWith,
} from '../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import { rewind } from '../../../../js/core/history/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import {
  type AppendEventRequest,
  createEventActions,
  type Event,
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

const services = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
  'a Map': () => openSessionService({ storage: mapStorage() }),
};

const look = new FunctionTool({
  name: 'look',
  description: 'looks',
  execute: () => ({ seen: 'SECRET' }),
});

const agentOf = (contextCompactors: LlmAgentConfig['contextCompactors'] = []) =>
  new LlmAgent({
    name: 'desk',
    model: new ScriptedModel([toolCall('look'), 'The SECRET answer']),
    tools: [look],
    contextCompactors,
  });

/** How often the run appends: the question, the call, its response, and the answer. */
const APPENDS = 4;

/** Rewinds a run, and asks something else, as another tab does. */
async function rewindAndAsk(service: SessionService, invocationId: string): Promise<void> {
  await rewind(service, { ...key, before: { invocationId } });
  const session = await service.getSession(key);
  assert.ok(session);
  const edited = { id: 'edited', invocationId: 'i9', author: 'user' };
  await service.appendEvent({ session, event: edited });
}

/** Runs the agent. Before that append of the run, another tab rewinds it, and asks something else. */
async function runRewound(
  service: SessionService,
  agent: LlmAgent,
  isRewoundBefore: (event: Event, number: number) => boolean,
): Promise<void> {
  const adkService: FrameworkSessionService = asAdkService(service);
  const append = adkService.appendEvent.bind(adkService);
  let appends = 0;
  let invocationId = '';
  adkService.appendEvent = async (request) => {
    const event = request.event as unknown as Event;
    if (event.partial !== true) {
      if (appends === 0) ({ invocationId } = event);
      if (isRewoundBefore(event, appends++)) {
        await rewindAndAsk(service, invocationId);
      }
    }
    return append(request);
  };
  const runner = new Runner({ appName: key.appName, agent, sessionService: adkService });
  const newMessage = { role: 'user', parts: [{ text: 'A SECRET question' }] };
  for await (const { errorMessage } of runner.runAsync({ ...key, newMessage })) {
    assert.equal(errorMessage, undefined);
  }
}

const isUndone = (error: unknown): boolean =>
  isSessionError(error) && error.staleReason === 'undone';

describe('A run that another tab rewinds', () => {
  for (const [name, open] of Object.entries(services)) {
    for (let at = 1; at < APPENDS; at += 1) {
      it(`leaves nothing that shows, over ${name}, rewound before its append ${at + 1}`, async () => {
        const service = await open();
        after(() => service.close());
        await service.createSession(key);
        await assert.rejects(
          runRewound(service, agentOf(), (_, number) => number === at),
          isUndone,
        );
        for (const view of ['transcript', 'model'] as const) {
          const shown = await service.getSession({ ...key, config: { view } });
          const ids = shown?.events.map(({ id }: Event) => id);
          assert.deepEqual(ids, ['edited']);
        }
        const raw = await service.getSession(key);
        assert.equal(raw?.events.length, at + 2);
      });
    }

    it(`of runWith cannot go on after it has stored an event of another turn, over ${name}`, async () => {
      const service = await open();
      after(() => service.close());
      const session = await service.createSession(key);
      const parts = [{ text: 'a thought', thought: true }, { text: 'Hello.' }];
      const earlier = { invocationId: 'i1', author: 'desk', actions: createEventActions() };
      const events = ['thought', 'e2', 'e3'].map((id) => {
        return { ...earlier, id, content: { role: 'model', parts } };
      });
      await service.appendEvents({ session, events });
      // The framework removes the thought from the stored event, and appends it again.
      const compactor = new TrajectoryThoughtPruningCompactor({ eventRetentionSize: 3 });
      const append = service.appendEvent.bind(service);
      let [pruned, invocationId] = [0, ''];
      const refused = new Promise((resolve) => {
        service.appendEvent = (async (request: AppendEventRequest) => {
          const { id, author, invocationId: of } = request.event;
          if (author === 'user' && invocationId === '') invocationId = of;
          if (id === 'thought' && ++pruned === 1) await rewindAndAsk(service, invocationId);
          const appended = append(request);
          appended.catch(resolve);
          return appended;
        }) as typeof append;
      });
      const sessionService = asAdkService(service);
      const agent = agentOf([compactor]);
      const chat = liveSession(service, key, {
        run: runWith(new Runner({ appName: key.appName, agent, sessionService })),
      });
      await chat.ask({ role: 'user', parts: [{ text: 'A SECRET question' }] });
      assert.ok(isUndone(await refused));
      assert.equal(pruned, 1);
      const shown = await service.getSession({ ...key, config: { view: 'transcript' } });
      assert.deepEqual(
        shown?.events.map(({ id, content }) => [id, content?.parts?.length]),
        [
          ['thought', 1],
          ['e2', 2],
          ['e3', 2],
          ['edited', undefined],
        ],
      );
    });
  }
});
