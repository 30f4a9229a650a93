// Chats of assistant-ui whose threads are sessions.

import {
  AssistantRuntimeProvider,
  type ChatModelAdapter,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadListItemPrimitive,
  ThreadListPrimitive,
  ThreadPrimitive,
  useAui,
  useLocalRuntime,
  useRemoteThreadListRuntime,
} from '@assistant-ui/react';
import { openSessionService } from 'adk-session-wasm';
import { sessionHistory, sessionThreadList } from 'adk-session-wasm/assistant-ui';
import { useMemo } from 'react';

const service = openSessionService({ storage: 'auto', name: 'my-chat' });
const sessions = { service, appName: 'chat', userId: 'me' };
const threads = sessionThreadList(sessions);

const model: ChatModelAdapter = {
  async run({ messages }) {
    // Call your model here.
    return { content: [{ type: 'text', text: `This is message ${messages.length + 1}.` }] };
  },
};

/** assistant-ui calls this hook for each thread. */
function useThreadRuntime() {
  const aui = useAui();
  const history = useMemo(() => sessionHistory(sessions, () => aui.threadListItem), [aui]);
  return useLocalRuntime(model, { adapters: { history } });
}

const Item = () => (
  <ThreadListItemPrimitive.Root>
    <ThreadListItemPrimitive.Trigger>
      <ThreadListItemPrimitive.Title fallback="New chat" />
    </ThreadListItemPrimitive.Trigger>
    <ThreadListItemPrimitive.Archive>Archive</ThreadListItemPrimitive.Archive>
    <ThreadListItemPrimitive.Delete>Delete</ThreadListItemPrimitive.Delete>
  </ThreadListItemPrimitive.Root>
);

const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts components={{ Text: ({ text }) => <p>{text}</p> }} />
  </MessagePrimitive.Root>
);

export function Chat() {
  const runtime = useRemoteThreadListRuntime({ runtimeHook: useThreadRuntime, adapter: threads });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadListPrimitive.Root>
        <ThreadListPrimitive.New>New chat</ThreadListPrimitive.New>
        <ThreadListPrimitive.Items>{() => <Item />}</ThreadListPrimitive.Items>
      </ThreadListPrimitive.Root>
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
