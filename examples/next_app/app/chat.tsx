'use client';

import { errorText, type RunAgent, shownOf } from 'adk-session-wasm/live';
import { SessionProvider, useSession } from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import type { FormEvent } from 'react';

// Next renders this on the server too, where nothing is read: effects run in the page alone.
const origin = typeof location === 'undefined' ? 'http://localhost' : location.origin;
const service = new RemoteSessionService({ url: `${origin}/api` });

export function Chat({ user }: { user: { appName: string; userId: string } }) {
  return (
    <SessionProvider service={service} {...user} sessionId="first" run={run}>
      <Conversation />
    </SessionProvider>
  );
}

function Conversation() {
  const { session, store: chat } = useSession();

  /** A message that cannot be stored stays in the list, with its error. */
  const attempt = (work: Promise<unknown>): void => void work.catch(() => undefined);

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('text') as HTMLInputElement;
    attempt(chat.ask({ role: 'user', parts: [{ text: field.value }] }));
    field.value = '';
  }

  return (
    <main>
      {session.status === 'loading' && <p>Loading…</p>}
      <ol>
        {[...session.events, ...session.drafts]
          .filter((event) => !shownOf(event).isEmpty)
          .map((event) => (
            <li key={event.id} className={event.partial ? 'draft' : 'stored'}>
              <b>{event.author}</b> {shownOf(event).text}
              {session.unsent[event.id]?.error !== undefined && (
                <em role="alert">
                  {errorText(session.unsent[event.id]?.error)}{' '}
                  <button onClick={() => attempt(chat.retry(event.id))}>Retry</button>
                </em>
              )}
            </li>
          ))}
      </ol>
      {session.run?.status === 'failed' && <p role="alert">{errorText(session.run.error)}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required autoComplete="off" />
        <button>Send</button>
      </form>
    </main>
  );
}

/** Lets the server answer the message, and shows the answer as it comes. The server stores the whole of it. */
const run: RunAgent = async function* ({ sessionId, message, signal }) {
  const { invocationId } = message;
  const body = JSON.stringify({ sessionId, invocationId, text: shownOf(message).text });
  const response = await fetch('/answer', { method: 'POST', body, signal });
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
    const content = { role: 'model', parts: [{ text: piece.value }] };
    yield { author: 'guide', partial: true, content };
  }
};
