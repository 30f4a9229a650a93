import { CachedSessionService } from 'adk-session-wasm/cache';
import { errorText, liveSession, liveSessions, shownOf } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';

const { VITE_AGENTS: url = 'http://localhost:8000' } = import.meta.env;
// The folder of the agent in Python is the name of the app.
const user = { appName: 'tea_house', userId: 'ada' };
const cache = new CachedSessionService({
  remote: new RemoteSessionService({ url }),
  owner: user.userId,
});
const chat = liveSession(cache, { ...user, sessionId: location.hash.slice(1) || 'tea' });

const find = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const element = (tag: string, members: object) =>
  Object.assign(document.createElement(tag), members);
const tell = (error: unknown): void => {
  const offline = 'The agents cannot be reached now.';
  find('[role=status]').textContent = errorText(error, { offline });
};
/** A message that cannot be stored stays in the list. */
const attempt = (work: Promise<unknown>): void => {
  find('[role=status]').textContent = '';
  work.catch(tell);
};

chat.subscribe(({ events, drafts, questions, run, state, unsent }) => {
  const lines = [...events, ...drafts].flatMap((event) => {
    const { text } = shownOf(event);
    const isDraft = drafts.includes(event) || unsent[event.id] !== undefined;
    const className = isDraft ? 'draft' : 'stored';
    if (!text) return [];
    const line = element('li', { className, textContent: `${event.author}: ${text}` });
    const onclick = () => attempt(chat.retry(event.id));
    const isRefused = unsent[event.id]?.error !== undefined;
    if (isRefused) line.append(' ', element('button', { textContent: 'Retry', onclick }));
    return [line];
  });
  find('ol').replaceChildren(...lines);
  const buttons = questions.flatMap(({ callId, name }) =>
    [true, false].map((confirmed) => {
      const onclick = () => chat.answer({ [callId]: { confirmed } }).catch(tell);
      return element('button', { textContent: `${confirmed ? 'Yes' : 'No'}, ${name}`, onclick });
    }),
  );
  find('#questions').replaceChildren(...buttons);
  find<HTMLButtonElement>('#stop').disabled = run?.status !== 'running';
  if (run?.status === 'failed') tell(run.error);
  document.title = `${Number(state['user:cups'] ?? 0)} cups of tea`;
});

liveSessions(cache, { ...user, limit: 10 }).subscribe(({ sessions }) => {
  const links = sessions.map(({ id }) => element('a', { href: `#${id}`, textContent: id }));
  find('nav').replaceChildren(...links);
});

addEventListener('hashchange', () => location.reload());
find('#stop').addEventListener('click', () => chat.cancel().catch(tell));
find<HTMLFormElement>('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const field = form.elements.namedItem('text') as HTMLInputElement;
  attempt(chat.ask({ role: 'user', parts: [{ text: field.value }] }));
  form.reset();
});
