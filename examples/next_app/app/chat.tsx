'use client';

import type { Event } from 'adk-session-wasm';
import type { RunAgent } from 'adk-session-wasm/live';
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
    const text = String(new FormData(event.currentTarget).get('text'));
    event.currentTarget.reset();
    setProblem('');
    const content = { role: 'user', parts: [{ text }] };
    chat.ask(content).catch((error: unknown) => setProblem(String(error)));
  }

  return (
    <main>
      {session.status === 'loading' && <p>Loading…</p>}
      <ol>
        {[...session.events, ...session.drafts].map((event) => (
          <li key={event.id} className={event.partial ? 'draft' : 'stored'}>
            <b>{event.author}</b> {textOf(event)}
          </li>
        ))}
      </ol>
      {problem && <p role="alert">{problem}</p>}
      {session.run?.status === 'failed' && <p role="alert">{String(session.run.error)}</p>}
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
  const body = JSON.stringify({ sessionId, invocationId, text: textOf(message) });
  const response = await fetch('/answer', { method: 'POST', body, signal });
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
    const content = { role: 'model', parts: [{ text: piece.value }] };
    yield { author: 'guide', partial: true, content };
  }
};

const textOf = ({ content }: Event) => content?.parts?.map(({ text }) => text).join('');
