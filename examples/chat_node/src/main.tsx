import { CachedSessionService, signOut } from 'adk-session-wasm/cache';
import { errorText } from 'adk-session-wasm/live';
import {
  SessionProvider,
  useCacheStatus,
  useSearch,
  useSessions,
  useUnsent,
} from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { type FormEvent, StrictMode, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat';

/** Who is signed in. The device remembers it: without a connection it cannot ask. Empty: nobody, but the cookie is still there. */
const user = localStorage.getItem('user');
// Another tab has signed in or out.
addEventListener('storage', ({ key }) => key === 'user' && location.reload());

/** The sessions of the server, with a copy on this device. The agent of the server answers. */
const sessions = user
  ? new CachedSessionService({ remote: new RemoteSessionService({ url: '/api' }), owner: user })
  : undefined;

function SignIn() {
  async function signIn(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    const response = await fetch('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    }).catch(() => undefined);
    if (!response?.ok) return alert('The server does not answer.');
    localStorage.setItem('user', name);
    location.reload();
  }
  return (
    <form className="sign-in" onSubmit={(event) => void signIn(event)}>
      <input name="name" aria-label="Name" required defaultValue={user ?? ''} readOnly={!!user} />
      <button>Sign in</button>
    </form>
  );
}

/** Deletes the cookie. Only the server can do that, so the page tries until there is a connection. */
async function deleteCookie(): Promise<void> {
  const response = await fetch('/sign-out', { method: 'POST' }).catch(() => undefined);
  if (!response?.ok) return void setTimeout(() => void deleteCookie(), 2000);
  localStorage.removeItem('user');
  location.reload();
}

/** The conversation in the address, so that a reload shows it again. An address without one gets a new one. */
function sessionOfAddress(): string {
  // A page on plain http has no `crypto.randomUUID`.
  const id = () => crypto.getRandomValues(new Uint32Array(4)).join('-');
  if (location.hash.length < 2) history.replaceState(null, '', `#${id()}`);
  return location.hash.slice(1);
}

function watchAddress(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

function App({ service, userId }: { service: CachedSessionService; userId: string }) {
  const sessionId = useSyncExternalStore(watchAddress, sessionOfAddress);
  return (
    <SessionProvider service={service} appName="chat" userId={userId} sessionId={sessionId} turns>
      <Conversations shown={sessionId} />
      <Chat key={sessionId} />
      <Status service={service} />
    </SessionProvider>
  );
}

/** The conversations, the newest first, and what a search finds. A session is created by its first message. */
function Conversations({ shown }: { shown: string }) {
  const { list, store } = useSessions({ limit: 20 });
  const [query, find] = useState('');
  const { search } = useSearch({ query });
  return (
    <nav>
      <a href="#">New chat</a>
      <input
        type="search"
        aria-label="Search"
        value={query}
        onInput={(event) => find(event.currentTarget.value)}
      />
      {search.hits.map(({ sessionId, eventId = '', snippet }) => (
        <a key={`${sessionId} ${eventId}`} className="hit" href={`#${sessionId}`}>
          {snippet.map(({ text, isHit }, at) => (isHit ? <mark key={at}>{text}</mark> : text))}
        </a>
      ))}
      {list.sessions.map((session) => (
        <p key={session.id}>
          <a className="title" href={`#${session.id}`} aria-current={session.id === shown}>
            {session.title ?? 'Untitled'}
          </a>
          <button onClick={() => void store.remove(session)}>Delete</button>
          {session.refused && <Refused sessionId={session.id} />}
        </p>
      ))}
      {list.hasMore && <button onClick={() => void store.loadMore()}>More</button>}
    </nav>
  );
}

const REFUSED: Record<string, string> = {
  create: 'The server does not take this conversation',
  title: 'The title was not changed',
  labels: 'The labels were not changed',
  delete: 'The conversation was not deleted',
};

/** What the server has refused of a conversation, besides its messages, and what mends it. */
function Refused({ sessionId }: { sessionId: string }) {
  const ofSession = useUnsent().filter(({ key }) => key.sessionId === sessionId);
  return ofSession.map(({ id, changes: [change], error, retry, discard }) => {
    const text = error && change && REFUSED[change.kind];
    return (
      text && (
        <span key={id} className="unsent" role="alert">
          {text}: {errorText(error)}
          <button onClick={() => void retry()}>Retry</button>
          <button onClick={() => void discard()}>Discard</button>
        </span>
      )
    );
  });
}

/** Notices at once that the network is gone. `isOnline` is about the last request. */
function watchNetwork(onChange: () => void): () => void {
  for (const type of ['online', 'offline']) addEventListener(type, onChange);
  return () => {
    for (const type of ['online', 'offline']) removeEventListener(type, onChange);
  };
}

/** Whether the server answers, and how many changes wait for it. */
function Status({ service }: { service: CachedSessionService }) {
  const { isOnline, isSignedOut, pending } = useCacheStatus();
  const isConnected = useSyncExternalStore(watchNetwork, () => navigator.onLine);
  const waiting = pending.reduce((sum, { events }) => sum + events, 0);
  async function leave(): Promise<void> {
    const unsent = async () => confirm('Some messages were not sent. Lose them?');
    if (!(await signOut(service, { unsent }))) return;
    localStorage.setItem('user', '');
    location.replace('/');
  }
  return (
    <footer>
      <output>
        {isOnline && isConnected ? 'online' : 'offline'}, {waiting} waiting
      </output>
      {isSignedOut && <SignIn />}
      <button onClick={() => void leave()}>Sign out</button>
    </footer>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {user && sessions ? (
      <App service={sessions} userId={user} />
    ) : user === '' ? (
      <p className="leaving">
        You are signed out, and your messages are no longer on this device. Your login still is,
        until the server can be reached from this page.
      </p>
    ) : (
      <SignIn />
    )}
  </StrictMode>,
);
if (user === '') void deleteCookie();
await navigator.serviceWorker?.register('/service_worker.js');
