'use client';

import { errorText, type RunAgent, shownOf } from 'adk-session-wasm/live';
import { SessionProvider, useSession } from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { type FormEvent, useState } from 'react';

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
  const [problem, setProblem] = useState('');

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('text') as HTMLInputElement;
    const text = field.value;
    field.value = '';
    setProblem('');
    chat.ask({ role: 'user', parts: [{ text }] }).catch((error: unknown) => {
      setProblem(errorText(error));
      // Gives back what was typed, unless another message was begun.
      field.value ||= text;
    });
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
            </li>
          ))}
      </ol>
      {problem && <p role="alert">{problem}</p>}
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
