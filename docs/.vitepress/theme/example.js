import { injectSessionState, Invocation, openSessionService } from 'adk-session-wasm';

const service = await openSessionService({ storage: 'indexeddb', name: 'first-screen' });
const session = await service.getOrCreateSession({
  appName: 'shop',
  userId: 'ada',
  sessionId: 's1',
});

// An agent: it changes the state, and answers with an instruction that prints it.
const invocation = new Invocation({ service, session });
const context = invocation.context({ agentName: 'guide' });
context.state.set('user:visits', context.state.get('user:visits', 0) + 1);
const text = await injectSessionState('This is visit {user:visits}.', context);
await invocation.append({ content: { role: 'model', parts: [{ text }] } }, { context });

for (const { author, content } of session.events) console.log(author, content.parts[0].text);
await service.close();
