import { describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { BasePlugin, LlmAgent, Runner } from '@google/adk';
import { asAdkService, runWith } from '../../../../../js/service/adk/index.js';
import { filesOf, InMemorySessionService } from '../../../../../js/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { ScriptedModel } from './scripted_model.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const TEXT = '[Uploaded Artifact: "tea.png"]';

/** Asks a Runner with two files. @param change changes the parts of the message, as a plugin does */
async function ask(change?: (parts: { text?: string }[]) => { text?: string }[]) {
  class Changing extends BasePlugin {
    constructor() {
      super('changing');
    }
    override async onUserMessageCallback({ userMessage }: { userMessage: { parts?: object[] } }) {
      return change && { ...userMessage, parts: change(userMessage.parts ?? []) };
    }
  }
  const service = new InMemorySessionService({ artifacts: true });
  const agent = new LlmAgent({
    name: 'guide',
    model: new ScriptedModel([{ content: { role: 'model', parts: [{ text: 'Tea.' }] } }]),
  });
  const runner = new Runner({
    appName: 'shop',
    agent,
    sessionService: asAdkService(service),
    plugins: [new Changing()],
  });
  const chat = liveSession(service, key, { run: runWith(runner) });
  const files = ['tea.png', 'cup.png'].map((name) => new File([name], name));
  const { id } = await chat.ask('What is it?', { files });
  const { events } = await service.getEvents({ ...key, eventIds: [id] });
  return events[0]!.event;
}

describe('A message with files whose Runner stores it', () => {
  it('has its delta and its metadata', async () => {
    const stored = await ask();
    deepEqual(stored.actions.artifactDelta, { 'tea.png': 0, 'cup.png': 0 });
    deepEqual(
      filesOf(stored).map(({ part }) => part),
      [1, 2],
    );
  });

  it('keeps a file whose text a plugin has moved', async () => {
    const stored = await ask((parts) => [...parts].reverse());
    deepEqual(
      filesOf(stored).map(({ part, name }) => [part, name]),
      [
        [0, 'cup.png'],
        [1, 'tea.png'],
      ],
    );
  });

  it('loses a file whose text a plugin has removed', async () => {
    const stored = await ask((parts) => parts.filter(({ text }) => text !== TEXT));
    deepEqual(stored.actions.artifactDelta, { 'cup.png': 0 });
    equal(filesOf(stored).length, 1);
  });
});
