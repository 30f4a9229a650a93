import { LogLevel, Runner, setLogLevel } from '@google/adk';
import { asAdkService, runWith } from 'adk-session-wasm/adk';
import type { SentEvent } from 'adk-session-wasm/live';
import { teaHouse } from '../../demo/agents.js';
import { modelOf } from '../models/model_of.js';
import { sessions } from '../page/sessions.js';
import { PageModel } from './page_model.js';
import { scriptedTeaHouse } from './scripted_tea_house.js';
import type { Turn } from './turn.js';

/** What the instructions of the tea house require. */
const HOUSE = { topic: 'tea', 'app:motd': 'Today all cups are handmade.' };

// The framework logs at each start that Workflow will replace SequentialAgent.
setLogLevel(LogLevel.ERROR);

const opening = sessions.then((service) => asAdkService(service));

/** The tea house of the demo, on the Runner of `@google/adk`. */
export async function* answer({ context, settings }: Turn): AsyncGenerator<SentEvent> {
  const { service, appName, userId, sessionId } = context;
  const key = { appName, userId, sessionId };
  const { state } = await service.getOrCreateSession(key);
  // A session from a file of another program may lack some of these keys, and a new one has none.
  const missing = Object.entries(HOUSE).filter(([name]) => !Object.hasOwn(state, name));
  const stateDelta = Object.fromEntries(missing);
  if (missing.length > 0) await service.updateState({ ...key, stateDelta });
  const model = new PageModel(modelOf(settings, scriptedTeaHouse));
  const agent = teaHouse({ adviser: model, host: model });
  const runner = new Runner({ appName, agent, sessionService: await opening });
  for await (const event of runWith(runner)(context)) {
    yield event;
    // If a model fails, the framework makes an event and continues.
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
  }
}
