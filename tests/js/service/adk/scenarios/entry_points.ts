/** The ways into a run besides `Runner.runAsync`. */

import { textResponse } from '../model_script.js';
import { set, setState } from './agents/llm_agent.js';
import { type Framework, key, type Scenario, textOf } from './scenario.js';
import { all } from './stage.js';

const ephemeral: Scenario = {
  name: 'an ephemeral run leaves no session, and app: and user: state stay',
  async run(stage) {
    const { LlmAgent, Runner } = stage.adk;
    const { sessionService } = stage;
    const agent = new LlmAgent({
      name: 'agent',
      model: stage.model(set('user:name', 'Ada'), 'Done.'),
      tools: [setState(stage)],
    });
    const { appName, userId } = key;
    const runner = new Runner({ appName, agent, sessionService });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    const events = await all(runner.runEphemeral({ userId, newMessage }));
    const { totalItems } = await sessionService.listSessions({ appName });
    await sessionService.createSession(key);
    return { texts: events.map(textOf), totalItems };
  },
  shows: { texts: ['', '', 'Done.'], totalItems: 0 },
};

const missing: Scenario = {
  name: 'a run in a session that is not there is refused',
  async run(stage) {
    const agent = new stage.adk.LlmAgent({ name: 'agent', model: stage.model() });
    return stage.turn(agent).catch(String);
  },
  shows: 'Error: Session not found: s',
};

const live: Scenario = {
  name: 'a live run makes its session, stores what was said and no sound, and finds it again',
  async run(stage) {
    const { LiveRequestQueue, LlmAgent, Runner } = stage.adk;
    const seen: unknown[] = [];
    const sound = {
      content: { role: 'model', parts: [{ inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }] },
    };
    for (const text of ['one', 'two']) {
      const agent = new LlmAgent({
        name: 'agent',
        model: stage.model([
          { ...textResponse('Hel'), partial: true },
          sound,
          { outputTranscription: { text: `Hello ${text}`, finished: true } },
          textResponse(`Hello ${text}`),
          { turnComplete: true },
        ]),
        beforeAgentCallback: ({ state }) => {
          state.set('lives', state.get('lives', 0)! + 1);
          return undefined;
        },
      });
      const runner = new Runner({
        appName: key.appName,
        agent,
        sessionService: stage.sessionService,
      });
      const liveRequestQueue = new LiveRequestQueue();
      liveRequestQueue.sendContent({ role: 'user', parts: [{ text }] });
      for await (const event of runner.runLive({ ...key, liveRequestQueue })) {
        seen.push([textOf(event), event.partial === true, event.turnComplete === true]);
        if (event.turnComplete) break;
      }
    }
    return seen;
  },
  shows: [
    ['', false, false],
    ['Hel', true, false],
    ['', false, false],
    ['', false, false],
    ['Hello one', false, false],
    ['', false, true],
    ['', false, false],
    ['Hel', true, false],
    ['', false, false],
    ['', false, false],
    ['Hello two', false, false],
    ['', false, true],
  ],
};

type Executor = InstanceType<Framework['A2AAgentExecutor']>;
type ExecuteArguments = Parameters<Executor['execute']>;

const a2a: Scenario = {
  name: 'an A2A executor makes the session of its context once, and each message is a turn in it',
  needs: 'node',
  sessions: [{ appName: 'app', userId: 'A2A_USER_context', sessionId: 'context' }],
  async run(stage) {
    const { A2AAgentExecutor, LlmAgent, Runner } = stage.adk;
    const agent = new LlmAgent({
      name: 'agent',
      model: stage.model(set('k', 1), 'first', 'second'),
      tools: [setState(stage)],
      outputKey: 'answer',
    });
    const runner = new Runner({
      appName: key.appName,
      agent,
      sessionService: stage.sessionService,
    });
    const executor = new A2AAgentExecutor({ runner });
    const published: unknown[] = [];
    for (const text of ['one', 'two']) {
      const userMessage = {
        kind: 'message' as const,
        messageId: `message ${text}`,
        role: 'user' as const,
        parts: [{ kind: 'text' as const, text }],
      };
      const context = { userMessage, taskId: `task ${text}`, contextId: 'context' };
      const bus = {
        publish: (event: { kind: string; status?: { state: string } }) =>
          published.push([event.kind, event.status?.state ?? null]),
      };
      await executor.execute(context, bus as unknown as ExecuteArguments[1]);
    }
    return published;
  },
  shows: [
    ['task', 'submitted'],
    ['status-update', 'working'],
    ['artifact-update', null],
    ['artifact-update', null],
    ['artifact-update', null],
    ['status-update', 'completed'],
    ['task', 'submitted'],
    ['status-update', 'working'],
    ['artifact-update', null],
    ['status-update', 'completed'],
  ],
};

export const entryPoints: readonly Scenario[] = [ephemeral, missing, live, a2a];
