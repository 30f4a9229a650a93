import type { Event } from 'adk-session-wasm';
import { useSession, useSessionState } from 'adk-session-wasm/react';
import { type FormEvent, useState } from 'react';

/** One conversation, as it is stored now: whoever changes it, this tab or another. */
export function Chat() {
  const { session, store: chat } = useSession();
  const { events, drafts, run, hasOlder, title = 'New chat' } = session;
  const { value: name, set: setName } = useSessionState('user:name', '');
  const [problem, setProblem] = useState('');

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text'));
    event.currentTarget.reset();
    setProblem('');
    const content = { role: 'user', parts: [{ text }] };
    chat.ask(content).catch((error: unknown) => setProblem(String(error)));
  }

  return (
    <main>
      <h1>{title}</h1>
      <label>
        Your name, in all chats:{' '}
        <input
          key={name}
          defaultValue={name}
          // What is stored creates the conversation: to look at the field must not.
          onBlur={({ target: { value } }) => value !== name && void setName(value)}
        />
      </label>
      {hasOlder && <button onClick={() => void chat.loadOlder()}>Earlier messages</button>}
      <ol>
        {[...events, ...drafts].filter(textOf).map((event) => (
          <li key={event.id} className={event.partial ? 'draft' : 'stored'}>
            <b>{event.author}</b> {textOf(event)}
          </li>
        ))}
      </ol>
      {problem && <p role="alert">{problem}</p>}
      {run?.status === 'failed' && <p role="alert">{String(run.error)}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required autoComplete="off" />
        <button>Send</button>
        {run?.status === 'running' && (
          <button type="button" onClick={() => void chat.cancel()}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

const textOf = ({ content }: Event) => content?.parts?.map(({ text }) => text).join('');
