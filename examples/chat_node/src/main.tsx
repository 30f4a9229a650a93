import { CachedSessionService, signOut } from 'adk-session-wasm/cache';
import { SessionProvider, useCacheStatus, useSessions } from 'adk-session-wasm/react';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { type FormEvent, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat';

const post = (path: string, body: object): Promise<Response> =>
  fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The device remembers who is signed in: without a connection it cannot ask. */
const user = localStorage.getItem('user');
/** The sessions of the server, with a copy on this device. The agent of the server answers. */
const sessions =
  user === null
    ? undefined
    : new CachedSessionService({ remote: new RemoteSessionService({ url: '/api' }), owner: user });

function SignIn() {
  async function signIn(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    const { ok } = await post('/sign-in', { name });
    if (!ok) return;
    localStorage.setItem('user', name);
    location.reload();
  }
  return (
    <form className="sign-in" onSubmit={(event) => void signIn(event)}>
      <input name="name" aria-label="Name" required defaultValue={user ?? ''} />
      <button>Sign in</button>
    </form>
  );
}

function App({ service, userId }: { service: CachedSessionService; userId: string }) {
  const [sessionId, open] = useState(() => location.hash.slice(1) || crypto.randomUUID());
  function show(id: string): void {
    location.hash = id;
    open(id);
  }
  return (
    <SessionProvider {...{ service, appName: 'chat', userId, sessionId }}>
      <Conversations open={show} />
      <Chat key={sessionId} />
      <Status service={service} />
    </SessionProvider>
  );
}

/** The conversations, the newest first. A session is created by its first message. */
function Conversations({ open }: { open: (sessionId: string) => void }) {
  const { list, store } = useSessions({ limit: 20 });
  return (
    <nav>
      <button onClick={() => open(crypto.randomUUID())}>New chat</button>
      {list.sessions.map((session) => (
        <p key={session.id}>
          <button className="title" onClick={() => open(session.id)}>
            {session.title ?? 'Untitled'}
          </button>
          <button onClick={() => void store.remove(session)}>Delete</button>
        </p>
      ))}
      {list.hasMore && <button onClick={() => void store.loadMore()}>More</button>}
    </nav>
  );
}

/** Whether the server answers, and how many changes wait for it. */
function Status({ service }: { service: CachedSessionService }) {
  const { isOnline, isSignedOut, pending } = useCacheStatus();
  const waiting = pending.reduce((sum, { events }) => sum + events, 0);
  async function leave(): Promise<void> {
    const unsent = async () => confirm('Some messages were not sent. Lose them?');
    if (!(await signOut(service, { unsent }))) return;
    await post('/sign-out', {});
    localStorage.removeItem('user');
    location.reload();
  }
  return (
    <footer>
      <output>
        {isOnline ? 'online' : 'offline'}, {waiting} waiting
      </output>
      {isSignedOut ? <SignIn /> : <button onClick={() => void leave()}>Sign out</button>}
    </footer>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    {user === null || sessions === undefined ? (
      <SignIn />
    ) : (
      <App service={sessions} userId={user} />
    )}
  </StrictMode>,
);
await navigator.serviceWorker?.register('/service_worker.js');
