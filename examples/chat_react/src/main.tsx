import { SessionProvider, useSessions } from 'adk-session-wasm/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { sessions } from './agent';
import { Chat } from './chat';

const USER = { appName: 'chat', userId: 'me' };

function App() {
  const [sessionId, open] = useState<string>(() => crypto.randomUUID());
  return (
    <SessionProvider service={sessions} {...USER} sessionId={sessionId}>
      <Conversations open={open} />
      <Chat key={sessionId} />
    </SessionProvider>
  );
}

/** The conversations, the newest first. A session is created by its first message. */
function Conversations({ open }: { open: (sessionId: string) => void }) {
  const [{ sessions, hasMore }, list] = useSessions({ limit: 20 });
  return (
    <nav>
      <button onClick={() => open(crypto.randomUUID())}>New chat</button>
      {sessions.map((session) => (
        <p key={session.id}>
          <button className="title" onClick={() => open(session.id)}>
            {session.title ?? 'Untitled'}
          </button>
          <button onClick={() => void list.remove(session)}>Delete</button>
        </p>
      ))}
      {hasMore && <button onClick={() => void list.loadMore()}>More</button>}
    </nav>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
