// A chat with agents: assistant-ui shows a live session, with files, edits, new answers and arrows.

import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  type Attachment,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
  useExternalStoreRuntime,
} from '@assistant-ui/react';
import { openSessionService } from 'adk-session-wasm';
import { sessionAttachments } from 'adk-session-wasm/assistant-ui';
import type { RunAgent } from 'adk-session-wasm/live';
import { SessionProvider, useArtifact, useSession } from 'adk-session-wasm/react';
import { useMemo } from 'react';

const service = openSessionService({ storage: 'auto', name: 'my-agent-chat', artifacts: true });

/** Run your agent here, or a `Runner` by `runWith`. */
const run: RunAgent = async function* ({ message: { content } }) {
  const text = `You said: ${content?.parts?.[0]?.text}`;
  yield { author: 'guide', content: { role: 'model', parts: [{ text }] } };
};

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

/** A file of a message: a picture, or a link that saves it. */
function Attached({ name, type, content }: Attachment) {
  const artifact = content?.find((part) => part.type === 'data');
  const { url } = useArtifact(artifact?.data);
  if (type === 'image') return <img src={url} alt={name} />;
  return (
    <a href={url} download={name}>
      {name}
    </a>
  );
}

const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts components={{ Text: ({ text }) => <p>{text}</p> }} />
    <MessagePrimitive.Attachments>
      {({ attachment }) => <Attached {...attachment} />}
    </MessagePrimitive.Attachments>
    <TurnPicker />
    <ActionBarPrimitive.Root>
      <ActionBarPrimitive.Reload>Again</ActionBarPrimitive.Reload>
    </ActionBarPrimitive.Root>
  </MessagePrimitive.Root>
);

function Thread() {
  const { session, store } = useSession();
  const attachments = useMemo(() => sessionAttachments(store), [store]);
  const { convertMessage, onNew, onEdit } = attachments;
  const runtime = useExternalStoreRuntime({
    messages: [...session.events, ...session.drafts],
    isRunning: session.run?.status === 'running',
    convertMessage,
    onNew,
    onEdit,
    onReload: async (parentId) => void (await store.regenerate(parentId ?? '')),
    onCancel: () => store.cancel(),
    adapters: { attachments },
  });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages>{() => <Message />}</ThreadPrimitive.Messages>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Attachments>
            {({ attachment }) => <b>{attachment.name}</b>}
          </ComposerPrimitive.Attachments>
          <ComposerPrimitive.AddAttachment>Add files</ComposerPrimitive.AddAttachment>
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
