// One conversation in an agent engine. The Runners of both languages take turns: that of @google/adk over this package's
// service, and that of google-adk for Python over its own.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import { FunctionTool, LlmAgent, Runner, StreamingMode } from '@google/adk';
import { z } from 'zod';

import { asAdkService } from '../../../js/service/adk/index.js';
import { toolCall, type Reply, textResponse as saying } from '../../js/service/adk/model_script.js';
import { ScriptedModel } from '../../js/service/adk/pairing/scripted_model.js';
import type { Event } from '../../../js/index.js';
import { type AgentEngine, startAgentEngine } from './agent_engine.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY } from '../shared_session.js';

const findTea = new FunctionTool({
  name: 'find_tea',
  description: 'Finds a tea.',
  parameters: z.object({ time: z.string() }),
  execute: ({ time }, context) => {
    context?.state.set('topic', `tea of the ${time}`);
    context?.state.set('temp:seen', true);
    return { tea: 'rooibos' };
  },
});

describe('A conversation in an agent engine', { timeout: 120_000 }, () => {
  let python: PythonSessions;
  let engine: AgentEngine;
  before(() => {
    python = startPythonSessions();
  });
  after(() => python.end());
  beforeEach(async () => {
    engine = await startAgentEngine(python, { pageSize: 3 });
  });
  afterEach(() => engine.end());

  /** Runs one turn of the package. Returns the content of each request to the model. */
  const turn = async (text: string, replies: Reply[]): Promise<string[][]> => {
    const model = new ScriptedModel(replies);
    const agent = new LlmAgent({ name: 'host', model, tools: [findTea] });
    const sessionService = asAdkService(engine.newService());
    const runner = new Runner({ appName: KEY.appName, agent, sessionService });
    const newMessage = { role: 'user', parts: [{ text }] };
    const runConfig = { streamingMode: StreamingMode.SSE };
    const { userId, sessionId } = KEY;
    for await (const event of runner.runAsync({ userId, sessionId, newMessage, runConfig })) {
      void event;
    }
    return model.requests.map(({ contents }) => contents.map(contentText));
  };

  it('continues with any of the Runners', async () => {
    const state = { 'user:name': 'Ada', 'app:currency': 'KRW', topic: '' };
    await engine.service.createSession({ ...KEY, state });
    const streamed = [{ ...saying('Try the '), partial: true }, saying('Try the rooibos.')];
    await turn('Which tea?', [toolCall('find_tea', { time: 'evening' }), streamed]);
    const first = ['Which tea?', 'find_tea?', 'find_tea!', 'Try the rooibos.'];

    const inPython = await python.ask('run', { ...PYTHON_KEY, text: 'For how much?' });
    assert.equal(inPython.error, undefined);
    const answer = 'Serve Ada tea of the evening for KRW. (5)';
    const second = ['For how much?', answer];
    assert.deepEqual(inPython.events.map(textsOfAuthor).filter(Boolean), [...first, ...second]);
    assert.equal(inPython.state.answer, answer);
    assert.equal(inPython.state['user:turns'], 1);

    const [told = []] = await turn('Thank you.', ['You are welcome.']);
    assert.deepEqual(told.slice(0, 5), [...first, 'For how much?']);
    assert.ok(told.join('\n').includes(answer), told.join('\n'));
    assert.equal(told.at(-1), 'Thank you.');

    const whole = await engine.service.getSession(KEY);
    const spoken = whole?.events.filter(({ content }) => content !== undefined) ?? [];
    assert.deepEqual(spoken.map(textsOfAuthor), [
      ...first,
      ...second,
      'Thank you.',
      'You are welcome.',
    ]);
    assert.deepEqual([...new Set(spoken.map(({ author }) => author))], ['user', 'host', 'shop']);
    assert.deepEqual(whole?.state, {
      'user:name': 'Ada',
      'app:currency': 'KRW',
      topic: 'tea of the evening',
      answer,
      turns: 1,
      'user:turns': 1,
      'app:turns': 1,
    });
    const stored = JSON.stringify(engine.server.events('s1'));
    assert.ok(!stored.includes('temp:') && !stored.includes('"partial":true'), stored);
  });
});

function textsOfAuthor({ content }: Pick<Event, 'content'>): string {
  return contentText(content ?? {});
}

/** Describes a part: a text, a call with a question mark, or a response with an exclamation mark. */
function contentText({ parts = [] }: NonNullable<Event['content']>): string {
  return parts
    .map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `${functionCall.name}?`;
      return functionResponse ? `${functionResponse.name}!` : (text ?? '');
    })
    .join('');
}
