import {
  injectSessionState,
  Invocation,
  loadWasm,
  openSessionService,
} from './node_modules/adk-session-wasm/js/dist/slim.js';

await loadWasm('./node_modules/adk-session-wasm/pkg/adk_session_wasm_bg.wasm');

const [messages, list, form] = ['ol', 'output', 'form'].map((name) => document.querySelector(name));
const service = await openSessionService({ storage: 'auto', name: 'plain-page' });
const key = { appName: 'shopping', userId: 'me', sessionId: 'list' };

/** Stores a message, with which a turn begins. */
async function ask(text) {
  const session = await service.getOrCreateSession(key);
  const userContent = { role: 'user', parts: [{ text }] };
  const invocation = new Invocation({ service, session, userContent });
  await invocation.append({ content: userContent });
  return invocation;
}

/** Ends the turn: what the agent does to the state, and its answer. */
async function answer(invocation, text) {
  const { session } = invocation;
  const context = invocation.context({ agentName: 'clerk' });
  const [, thing] = /^buy (.+)/i.exec(text) ?? [];
  if (thing !== undefined) context.state.set('things', [...context.state.get('things', []), thing]);
  const instruction = await injectSessionState('You keep this list: {things?}', context);
  const content = { role: 'model', parts: [{ text: await reply(instruction, session.events) }] };
  // The answer and the change of state are stored in one step.
  await invocation.append({ content }, { context });
  invocation.end();
}

/** Stands in for a model: `fetch` the answer of yours here, from a server that has its key. */
async function reply(instruction, events) {
  return `${events.length} events. ${instruction}`;
}

async function show() {
  const { events, state } = await service.getOrCreateSession(key);
  const items = events.map(({ author, content }) => {
    const item = document.createElement('li');
    item.textContent = `${author}: ${content.parts[0].text}`;
    return item;
  });
  messages.replaceChildren(...items);
  list.textContent = (state.things ?? []).join(', ');
}

let turns = Promise.resolve();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { text: field } = form.elements;
  const { value: text } = field;
  const giveBack = (error) => {
    // Unless another message was begun.
    field.value ||= text;
    throw error;
  };
  // One turn after the other: each begins with the state that the one before it has stored.
  turns = turns
    .then(() => ask(text))
    .then((invocation) => answer(invocation, text), giveBack)
    .catch(console.error);
  form.reset();
});

// Of this tab and of others. Listening comes first, so that nothing is missed.
service.watch(key, { onNotice: show });
await show();
form.hidden = false;
