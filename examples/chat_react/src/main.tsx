import { SessionProvider, useSessions } from 'adk-session-wasm/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { run, sessions } from './agent';
import { Chat } from './chat';

const USER = { appName: 'chat', userId: 'me' };

function App() {
  const [sessionId, open] = useState<string>(() => crypto.randomUUID());
  return (
    <SessionProvider service={sessions} {...USER} sessionId={sessionId} run={run}>
      <Conversations open={open} />
      <Chat key={sessionId} />
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

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
