import { LogLevel, Runner, setLogLevel, StreamingMode } from '@google/adk';
import { asAdkService } from 'adk-session-wasm/adk';
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
export async function answer({ key, text, settings, onPartial }: Turn): Promise<void> {
  const service = await sessions;
  const { state } = await service.getOrCreateSession({ ...key, state: HOUSE });
  // A session from a file of another program may lack some of these keys.
  const stateDelta = Object.fromEntries(
    Object.entries(HOUSE).filter(([name]) => !Object.hasOwn(state, name)),
  );
  const model = new PageModel(modelOf(settings, scriptedTeaHouse));
  const agent = teaHouse({ adviser: model, host: model });
  const runner = new Runner({ appName: key.appName, agent, sessionService: await opening });
  const run = runner.runAsync({
    userId: key.userId,
    sessionId: key.sessionId,
    newMessage: { role: 'user', parts: [{ text }] },
    stateDelta,
    runConfig: { streamingMode: StreamingMode.SSE },
  });
  for await (const event of run) {
    // If a model fails, the framework makes an event and continues.
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
    if (event.partial === true) onPartial(event);
  }
}
