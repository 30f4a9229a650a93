import { BasePlugin, type Event, LogLevel, Runner, setLogLevel } from '@google/adk'; // prettier-ignore
import { InMemorySessionService } from 'adk-session-wasm/adk';
import { teaHouse } from './agents.js';
import { heading, line, showEvent, showState } from './printing.js';
import { CONVERSATIONS, scriptedModels } from './script.js';

const APP = { appName: 'tea_house', userId: 'ada' };
const GEMINI = 'gemini-2.5-flash';

/** Prints what the models are told, and each event before it is stored. */
class Narrator extends BasePlugin {
  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: ModelCall): Promise<undefined> {
    const told = llmRequest.config?.systemInstruction;
    line(
      callbackContext.agentName,
      'is told',
      typeof told === 'string' ? told : JSON.stringify(told),
    );
  }

  override async onEventCallback({ event }: { event: Event }): Promise<undefined> {
    if (!event.partial) showEvent(event);
  }
}

type ModelCall = Parameters<BasePlugin['beforeModelCallback']>[0];

/**
 * Runs two conversations of one guest with the agents of the tea house, on the Runner of `@google/adk`.
 *
 * @throws Error if a model fails
 */
export async function converse(): Promise<void> {
  const isReal = Boolean(process.env.GEMINI_API_KEY);
  // The framework logs at each start that Workflow will replace SequentialAgent.
  setLogLevel(LogLevel.ERROR);
  console.log(`A guest talks to two agents, adviser and host, which run one after the other on @google/adk,
with ${isReal ? GEMINI : `a scripted model (set GEMINI_API_KEY for ${GEMINI})`}.`);

  const sessionService = new InMemorySessionService();
  const agent = teaHouse(isReal ? { adviser: GEMINI, host: GEMINI } : scriptedModels());
  const plugins = [new Narrator('narrator')];
  const runner = new Runner({ appName: APP.appName, agent, sessionService, plugins });
  await sessionService.updateState({ appName: APP.appName, stateDelta: { 'app:motd': 'All cups are handmade.' } }); // prettier-ignore

  for (const { sessionId, messages } of CONVERSATIONS) {
    // The second session has the app: key and the user: keys of the first one.
    await sessionService.createSession({ ...APP, sessionId, state: { topic: 'tea' } });
    for (const [turn, text] of messages.entries()) {
      heading(`session ${sessionId} · turn ${turn + 1}`);
      line('user', 'says', text);
      const newMessage = { role: 'user', parts: [{ text }] };
      for await (const { errorMessage } of runner.runAsync({ ...APP, sessionId, newMessage })) {
        if (errorMessage) throw new Error(`the model failed: ${errorMessage}`);
      }
      const stored = await sessionService.getSession({ ...APP, sessionId });
      showState('state', 'stored', stored?.state ?? {});
    }
  }
  heading('in the end');
  const stored = [];
  for (const { sessionId } of CONVERSATIONS) {
    const session = await sessionService.getSession({ ...APP, sessionId });
    line(sessionId, 'stored', `${session?.events.length} events`);
    stored.push(session);
  }
  showState('user:', 'stored', await sessionService.getUserState(APP));
  showState('app:', 'stored', await sessionService.getAppState(APP));
  const isGone = !JSON.stringify(stored).includes('"temp:');
  line('temp:', isGone ? 'gone' : 'KEPT', 'in no stored state, and in no stored event');
  await sessionService.close();
}
