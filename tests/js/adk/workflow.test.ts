import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import {
  type BaseSessionService,
  FunctionNode,
  InMemorySessionService as FrameworkMemory,
  LlmAgent,
  Runner,
  Workflow,
} from '@google/adk';

import { InMemorySessionService } from '../../../js/adk/index.js';
import { instructionOf } from '../../../js/examples/demo/model_script.js';
import { ScriptedModel } from '../../../js/examples/demo/scripted_model.js';
import { instruction } from '../../../js/instruction/provider.js';
import { gate, key, stored } from './fixture.js';

async function run(service: BaseSessionService) {
  await service.createSession(key);
  const lateWritten = gate();
  const begin = new FunctionNode('begin', (context) => {
    context.state.set('k', 'begin');
    context.state.set('temp:note', 'for the agent');
    return 'go';
  });
  // It writes first and ends last.
  const early = new FunctionNode('early', async (context) => {
    context.state.set('k', 'early');
    await lateWritten.opened;
    // So that the other's event is appended before.
    await setTimeout(20);
    // No output: a workflow may end with one only.
    return undefined;
  });
  const late = new FunctionNode('late', (context) => {
    context.state.set('k', 'late');
    lateWritten.open();
    return 'late';
  });
  const model = new ScriptedModel(['spoken', 'spoken']);
  const speaker = new LlmAgent({
    name: 'speaker',
    model,
    instruction: instruction('k={k} note={temp:note?}'),
    outputKey: 'spoken',
  });
  const agent = new Workflow({
    name: 'flow',
    edges: [
      ['START', begin, [early, late]],
      [late, speaker],
    ],
  });
  const runner = new Runner({ appName: key.appName, agent, sessionService: service });
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
  for await (const { errorMessage } of runner.runAsync({ ...key, newMessage })) {
    assert.equal(errorMessage, undefined);
  }
  const { state, events } = await stored(service);
  const told = model.requests.map((request) => instructionOf(request).split('\n').at(-1));
  const steps = events.map(({ author, output }) => ({ author, output }));
  return { state, steps, told };
}

describe('A Workflow of the framework', () => {
  it('leaves what its own service leaves, the last write of parallel nodes included', async () => {
    const [ours, theirs] = await Promise.all([
      run(new InMemorySessionService()),
      run(new FrameworkMemory()),
    ]);
    assert.deepEqual(ours, theirs);
    assert.deepEqual(ours.state, { k: 'late', spoken: 'spoken' });
    assert.deepEqual(ours.told, ['k=late note=for the agent']);
  });
});
