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
import type { LiveSession, RunAgent } from 'adk-session-wasm/live';
import { SessionProvider, useSession } from 'adk-session-wasm/react';
import { useEffect, useState } from 'react';

const service = openSessionService({ storage: 'auto', name: 'my-agent-chat' });

type Branches = Awaited<ReturnType<LiveSession['branches']>>;

/** Run your agent here, or a `Runner` by `runWith`. */
const run: RunAgent = async function* ({ message: { content } }) {
  const text = `You said: ${content?.parts?.[0]?.text}`;
  yield { author: 'guide', content: { role: 'model', parts: [{ text }] } };
};

const contentOf = ({ content: [part] }: AppendMessage) => ({
  role: 'user',
  parts: [{ text: part?.type === 'text' ? part.text : '' }],
});

/** The arrows of a message that is the first of its turn. */
function BranchSwitcher({ store, branches }: { store: LiveSession; branches: Branches }) {
  const id = useAuiState(({ message }) => message.id);
  const { events } = store.getSnapshot();
  const at = events.findIndex((event) => event.id === id);
  const { invocationId } = events[at] ?? {};
  if (events[at - 1]?.invocationId === invocationId) return null;
  const alternatives = branches
    .map(({ alternatives }) => alternatives)
    .find((all) => all.some((one) => one.isShown && one.invocationId === invocationId));
  if (alternatives === undefined) return null;
  const shown = alternatives.findIndex(({ isShown }) => isShown);
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
      {arrow('<', alternatives[shown - 1]?.branch)}
      {shown + 1}/{alternatives.length}
      {arrow('>', alternatives[shown + 1]?.branch)}
    </span>
  );
}

function Thread() {
  const { session, store } = useSession();
  const [branches, setBranches] = useState<Branches>([]);
  useEffect(() => {
    if (session.status === 'ready') void store.branches().then(setBranches);
  }, [session.status, session.pages, store]);
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
      <BranchSwitcher store={store} branches={branches} />
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
  <SessionProvider service={service} appName="chat" userId="me" sessionId="s1" run={run}>
    <Thread />
  </SessionProvider>
);
