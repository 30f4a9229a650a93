import { LogLevel, Runner, setLogLevel } from '@google/adk';
import { InMemorySessionService } from 'adk-session-wasm/adk';
import { type Models, teaHouse } from './agents.js';
import { entriesOf, type Entry } from './display/changes.js';
import { Narration } from './display/narration.js';
import { NarratorPlugin } from './narrator_plugin.js';
import { Printer } from './display/printing.js';
import { CONVERSATIONS, scriptedModels } from './script.js';

const APP = { appName: 'tea_house', userId: 'ada' };
const GEMINI = 'gemini-2.5-flash';

/**
 * Runs two conversations of one guest with the agents of the tea house, on the Runner of `@google/adk`.
 *
 * @throws Error if a model fails
 */
export async function converse(): Promise<void> {
  const printer = Printer.forStdout([
    'adviser',
    ...CONVERSATIONS.map(({ sessionId }) => sessionId),
  ]);
  // The framework logs at each start that Workflow will replace SequentialAgent.
  setLogLevel(LogLevel.ERROR);
  printer.paragraph(
    `A guest talks to two agents, adviser and host, which run one after the other on @google/adk, with ${modelName()}.`,
  );
  printer.paragraph(
    'Changes of state: + set, ~ changed, − removed, by scope: session, user:, app:, temp:.',
  );

  const sessionService = new InMemorySessionService();
  const narrator = new NarratorPlugin(new Narration(printer));
  const agent = teaHouse(models());
  const runner = new Runner({ appName: APP.appName, agent, sessionService, plugins: [narrator] });

  for (const [number, { sessionId, messages }] of CONVERSATIONS.entries()) {
    const motd = 'Today all cups are handmade.';
    await sessionService.createSession({
      ...APP,
      sessionId,
      // The second session has the app: key and the user: keys of the first one.
      state: number === 0 ? { topic: 'tea', 'app:motd': motd } : { topic: 'tea' },
    });
    for (const [turn, text] of messages.entries()) {
      printer.heading(`session ${sessionId} · turn ${turn + 1}`);
      const newMessage = { role: 'user', parts: [{ text }] };
      const events = runner.runAsync({ ...APP, sessionId, newMessage });
      // The plugin prints the events. If a model fails, the framework makes an event and continues.
      for await (const { errorMessage } of events) {
        if (errorMessage !== undefined) throw new Error(`the model failed: ${errorMessage}`);
      }
    }
  }
  await summarize(sessionService, printer);
  await sessionService.close();
}

async function summarize(service: InMemorySessionService, printer: Printer): Promise<void> {
  printer.heading('in the end');
  const storedSessions = [];
  for (const { sessionId } of CONVERSATIONS) {
    const session = await service.getSession({ ...APP, sessionId });
    if (session === undefined) continue;
    storedSessions.push(session);
    printer.step(sessionId, 'events', `${session.events.length} stored`);
    printer.state(sessionId, 'stored', ownEntries(session.state));
  }
  printer.state('user:', 'stored', prefixed('user:', await service.getUserState(APP)));
  printer.state('app:', 'stored', prefixed('app:', await service.getAppState(APP)));
  const isWithoutTemp = !JSON.stringify(storedSessions).includes('"temp:');
  printer.step(
    'temp:',
    isWithoutTemp ? 'gone' : 'KEPT',
    'in no stored state, and in no stored event',
  );
}

function ownEntries(state: Record<string, unknown>): Entry[] {
  return entriesOf(state).filter(({ scope }) => scope === 'session');
}

/** Adds the prefix to the keys of a scope's state. */
function prefixed(prefix: string, state: Record<string, unknown>): Entry[] {
  const keys = Object.entries(state).map(([name, value]) => [prefix + name, value]);
  return entriesOf(Object.fromEntries(keys) as Record<string, unknown>);
}

function models(): Models {
  const key = process.env.GEMINI_API_KEY;
  return key ? { adviser: GEMINI, host: GEMINI } : scriptedModels();
}

function modelName(): string {
  return process.env.GEMINI_API_KEY
    ? GEMINI
    : `a scripted model (set GEMINI_API_KEY for ${GEMINI})`;
}
