'use client';

import type { Event } from 'adk-session-wasm';
import type { LiveSession } from 'adk-session-wasm/live';
import { SessionProvider, useSession } from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { type FormEvent, useState } from 'react';

// Next renders this on the server too, where nothing is read: effects run in the page alone.
const origin = typeof location === 'undefined' ? 'http://localhost' : location.origin;
const service = new RemoteSessionService({ url: `${origin}/api` });

export function Chat({ user }: { user: { appName: string; userId: string } }) {
  return (
    <SessionProvider service={service} {...user} sessionId="first">
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
    ask(chat, text).catch((error: unknown) => setProblem(String(error)));
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
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required autoComplete="off" />
        <button>Send</button>
      </form>
    </main>
  );
}

/** Shows the answer as it comes. Message and answer are stored by the server, which tells the live session. */
async function ask(chat: LiveSession, text: string): Promise<void> {
  const answer = { invocationId: crypto.randomUUID(), author: 'guide', partial: true };
  const body = JSON.stringify({ ...chat.key, invocationId: answer.invocationId, text });
  const response = await fetch('/answer', { method: 'POST', body });
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      await chat.send({ ...answer, content: { role: 'model', parts: [{ text: piece.value }] } });
    }
  } finally {
    await chat.reload();
    chat.discardDrafts();
  }
}

const textOf = ({ content }: Event) => content?.parts?.map(({ text }) => text).join('');
