// A chat with agents: assistant-ui shows a live session, with edits, new answers and arrows.

import {
  ActionBarPrimitive,
  type AppendMessage,
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
  useExternalStoreRuntime,
} from '@assistant-ui/react';
import { type Event, openSessionService } from 'adk-session-wasm';
import type { RunAgent } from 'adk-session-wasm/live';
import { SessionProvider, useSession } from 'adk-session-wasm/react';

const service = openSessionService({ storage: 'auto', name: 'my-agent-chat' });

/** Run your agent here, or a `Runner` by `runWith`. */
const run: RunAgent = async function* ({ message: { content } }) {
  const text = `You said: ${content?.parts?.[0]?.text}`;
  yield { author: 'guide', content: { role: 'model', parts: [{ text }] } };
};

const contentOf = ({ content: [part] }: AppendMessage) => ({
  role: 'user',
  parts: [{ text: part?.type === 'text' ? part.text : '' }],
});

/** The arrows between the versions of a turn, at its message. */
function TurnPicker() {
  const { session, store } = useSession();
  const id = useAuiState(({ message }) => message.id);
  const { events, turns } = session;
  const { author, invocationId } = events.find((event) => event.id === id) ?? {};
  const turn = author === 'user' ? turns[invocationId ?? ''] : undefined;
  if (turn === undefined) return null;
  const arrow = (sign: string, branch: string | undefined) => (
    <button
      disabled={branch === undefined}
      onClick={() => branch !== undefined && void store.switchBranch(branch)}
    >
      {sign}
    </button>
  );
  return (
    <span>
      {arrow('<', turn.previous)}
      {turn.index + 1}/{turn.count}
      {arrow('>', turn.next)}
    </span>
  );
}

function Thread() {
  const { session, store } = useSession();
  const runtime = useExternalStoreRuntime({
    messages: [...session.events, ...session.drafts],
    convertMessage: ({ id, author, content }: Event) => ({
      id,
      role: author === 'user' ? 'user' : 'assistant',
      content: content?.parts?.map(({ text = '' }) => text).join('') ?? '',
    }),
    isRunning: session.run?.status === 'running',
    onNew: async (message) => void (await store.ask(contentOf(message))),
    // `sourceId` is the edited message, `parentId` the one that is answered again.
    onEdit: async (message) => {
      await store.edit(message.sourceId ?? '', contentOf(message));
    },
    onReload: async (parentId) => void (await store.regenerate(parentId ?? '')),
    onCancel: () => store.cancel(),
  });
  const Message = () => (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts components={{ Text: ({ text }) => <p>{text}</p> }} />
      <TurnPicker />
      <ActionBarPrimitive.Root>
        <ActionBarPrimitive.Reload>Again</ActionBarPrimitive.Reload>
      </ActionBarPrimitive.Root>
    </MessagePrimitive.Root>
  );
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages>{() => <Message />}</ThreadPrimitive.Messages>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

export const AgentChat = () => (
  <SessionProvider service={service} appName="chat" userId="me" sessionId="s1" run={run} turns>
    <Thread />
  </SessionProvider>
);
