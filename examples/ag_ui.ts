/** AG-UI 1.0 over a `Runner`: `createServer(nodeListener(agUi(service, runner, userOf)))`. A message of the user runs once. */
import type { Runner } from '@google/adk';
import { createEvent, type Event, type Part, type SessionService } from 'adk-session-wasm';
import { runWith } from 'adk-session-wasm/adk';
import type { SentEvent } from 'adk-session-wasm/live';

/** The part of AG-UI's `RunAgentInput` that is used here. */
interface Input {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly {
    id: string;
    role: string;
    content?: string | { text?: string }[];
  }[];
  readonly resume?: readonly { interruptId: string; status: string; payload?: object }[];
}

/** @param userOf returns the user who is signed in; `undefined` refuses the request */
export const agUi =
  (service: SessionService, runner: Runner, userOf: (request: Request) => string | undefined) =>
  async (request: Request): Promise<Response> => {
    const userId = userOf(request);
    if (userId === undefined) return new Response(null, { status: 401 });
    const input = (await request.json()) as Input;
    const key = { appName: runner.appName, userId, sessionId: input.threadId };
    const session = await service.getOrCreateSession(key);
    const message = messageOf(input, session.events);
    const isAsked = input.resume?.length ? true : input.messages.at(-1)?.role === 'user';
    const stopping = new AbortController();
    const { signal } = stopping;
    const context = { ...key, service, message, streaming: true, signal, session: async () => session }; // prettier-ignore
    const stored = session.events.find(({ id }) => id === message.id);
    const run =
      stored || !isAsked ? storedAnswer(session.events, stored) : runWith(runner)(context);
    const events = agUiEvents(input, run);
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      },
      cancel: () => stopping.abort(), // In AG-UI, a client that leaves stops its run.
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };

/** Yields what is stored of the answer to a message that was sent before, if it is there. */
async function* storedAnswer(events: readonly Event[], message?: Event): AsyncGenerator<SentEvent> {
  yield* events.filter((event) => event !== message && event.invocationId === message?.invocationId); // prettier-ignore
}

/** The message of a request: the last one of the user, or the answers to interrupts. */
function messageOf({ runId, messages, resume = [] }: Input, events: readonly Event[]): Event {
  const calls = events.flatMap(({ content }) => content?.parts ?? []).map((part) => part.functionCall); // prettier-ignore
  const answers = resume.map(({ interruptId: id, status, payload = {} }): Part => {
    const { name = '' } = calls.find((call) => call?.id === id) ?? {};
    return { functionResponse: { id, name, response: status === 'cancelled' ? { confirmed: false } : { ...payload } } }; // prettier-ignore
  });
  const { id, content = '' } = messages.findLast(({ role }) => role === 'user') ?? { id: runId };
  const text = typeof content === 'string' ? content : content.map(({ text }) => text).join('');
  const [own, parts] = answers.length > 0 ? [runId, answers] : [id, [{ text }]];
  return createEvent({ id: own, invocationId: `e-${runId}`, author: 'user', content: { role: 'user', parts } }); // prettier-ignore
}

async function* agUiEvents({ threadId, runId }: Input, events: AsyncIterable<SentEvent>) {
  const [interrupts, run] = [[] as object[], { threadId, runId }];
  let messageId: string | undefined;
  yield { type: 'RUN_STARTED', ...run };
  try {
    for await (const { id, content, partial, actions, longRunningToolIds } of events) {
      const parts: Part[] = typeof content === 'string' ? [{ text: content }] : (content?.parts ?? []); // prettier-ignore
      for (const { text, thought, functionCall, functionResponse } of parts) {
        if (text && !thought) {
          if (!messageId) yield { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' };
          // The whole text follows its pieces.
          if (partial || !messageId) yield { type: 'TEXT_MESSAGE_CONTENT', messageId: (messageId ??= id), delta: text }; // prettier-ignore
          if (!partial) yield { type: 'TEXT_MESSAGE_END', messageId };
          messageId = partial ? messageId : undefined;
        }
        const { id: toolCallId = '', name = '' } = functionCall ?? functionResponse ?? {};
        if (partial || !toolCallId) continue;
        if (longRunningToolIds?.includes(toolCallId)) interrupts.push({ id: toolCallId, reason: name }); // prettier-ignore
        if (name.startsWith('adk_request_')) continue;
        if (functionCall) {
          yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId: id };
          yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(functionCall.args) };
          yield { type: 'TOOL_CALL_END', toolCallId };
        } else yield { type: 'TOOL_CALL_RESULT', messageId: `${id}-result`, toolCallId, role: 'tool', content: JSON.stringify(functionResponse?.response) }; // prettier-ignore
      }
      const pointer = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const delta = Object.entries(actions?.stateDelta ?? {}).map(([key, value]) => ({ op: 'add', path: pointer(key), value })); // prettier-ignore
      if (!partial && delta.length > 0) yield { type: 'STATE_DELTA', delta };
    }
    yield { type: 'RUN_FINISHED', ...run, outcome: interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' } }; // prettier-ignore
  } catch (error) {
    yield { type: 'RUN_ERROR', message: error instanceof Error ? error.message : String(error) };
  }
}
