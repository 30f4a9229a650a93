// The files of a run belong to the session in which it began.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InMemoryArtifactService, LlmAgent, Runner } from '@google/adk';

import { createEvent, InMemorySessionService, type SessionService } from '../../../../js/index.js';
import { asAdkService, runWith } from '../../../../js/service/adk/index.js';
import { runAgent } from '../../../../js/service/runs/agent/local_run.js';
import type { RunAgent } from '../../../../js/service/runs/agent/run_context.js';
import { failsWith } from '../../fails_with.js';
import { ScriptedModel } from '../adk/pairing/scripted_model.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const file = { ...key, filename: 'a.txt', data: new Uint8Array(1) };
const artifact = { text: 'a' };

const messageOf = (text: string) =>
  createEvent({
    author: 'user',
    invocationId: 'e-1',
    content: { role: 'user', parts: [{ text }] },
  });

async function run(service: SessionService, agent: RunAgent): Promise<void> {
  const message = messageOf('Hi');
  const none = () => undefined;
  await runAgent({
    key,
    service,
    agent,
    streaming: false,
    signal: new AbortController().signal,
    admit: async () => ({ message, isStored: false }),
    onStored: none,
    onPartial: none,
    onWhole: none,
  });
}

/** Returns an agent that does something with its context, and says a word. */
const doing = (work: (context: Parameters<RunAgent>[0]) => Promise<void>): RunAgent =>
  async function* (context) {
    await work(context);
    yield { author: 'guide', content: { role: 'model', parts: [{ text: 'Done' }] } };
  };

async function filled() {
  const service = new InMemorySessionService({ artifacts: true });
  await service.createSession(key);
  return service;
}

describe('The files of a run', () => {
  it('are those of its session', async () => {
    const service = await filled();
    await run(
      service,
      doing(async ({ artifacts }) => {
        await artifacts!.put(file);
      }),
    );
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), ['a.txt']);
  });

  it('are not those of another session with its id', async () => {
    const service = await filled();
    let isReached = false;
    const agent = doing(async ({ artifacts }) => {
      await service.deleteSession(key);
      await service.createSession(key);
      await service.artifacts.put({ ...file, filename: 'other.txt' });
      const gone = failsWith('not_found', /s1/);
      await assert.rejects(artifacts!.put(file), gone);
      await assert.rejects(artifacts!.saveArtifact({ ...file, artifact }), gone);
      await assert.rejects(artifacts!.open({ ...key, filename: 'other.txt' }), gone);
      await assert.rejects(artifacts!.deleteArtifact({ ...key, filename: 'other.txt' }), gone);
      isReached = true;
    });
    await assert.rejects(run(service, agent));
    assert.ok(isReached);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), ['other.txt']);
  });

  it('may be those of other sessions, which the agent names', async () => {
    const service = await filled();
    const other = { ...file, sessionId: 's2' };
    await service.createSession(other);
    await run(
      service,
      doing(async ({ artifacts }) => {
        await artifacts!.put(other);
      }),
    );
    assert.deepEqual(await service.artifacts.listArtifactKeys(other), ['a.txt']);
  });

  it('are absent if the service has none', async () => {
    const service = new InMemorySessionService();
    await service.createSession(key);
    await run(
      service,
      doing(async ({ artifacts }) => assert.equal(artifacts, undefined)),
    );
  });
});

describe('A Runner of a run', () => {
  /** Lets a runner answer. Before its model does, `work` gets the files of the turn. */
  async function answer(
    service: InMemorySessionService,
    artifactService: Runner['artifactService'],
    work: (save: (filename: string) => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const agent = new LlmAgent({
      name: 'guide',
      model: new ScriptedModel(['Done']),
      beforeAgentCallback: async (context) => {
        await work((filename) => context.saveArtifact(filename, artifact));
        return undefined;
      },
    });
    const sessionService = asAdkService(service);
    const parts = { appName: 'shop', agent, sessionService };
    const runner = new Runner({ ...parts, ...(artifactService && { artifactService }) });
    await run(service, runWith(runner));
  }

  it('has the files of the run, also if it was given those of the service', async () => {
    for (const isGiven of [false, true]) {
      const service = await filled();
      let isReached = false;
      await answer(service, isGiven ? service.artifacts : undefined, async (save) => {
        await save('a.txt');
        await service.deleteSession(key);
        await service.createSession(key);
        await assert.rejects(save('b.txt'), failsWith('not_found', /s1/));
        isReached = true;
      }).catch(() => undefined);
      assert.ok(isReached);
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    }
  });

  it('keeps another artifact service', async () => {
    const service = await filled();
    const other = new InMemoryArtifactService();
    await answer(service, other, async (save) => {
      await save('a.txt');
    });
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    assert.deepEqual(await other.listArtifactKeys(key), ['a.txt']);
  });
});
