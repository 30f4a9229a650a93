// The real client `@assistant-ui/react-google-adk`, unchanged: its functions ask the handler's agent over HTTP.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { installPackages } from '../../toolchain/npm_packages.mjs';
import { APP, type Replies, scriptOf, startScriptedAgents } from './scripted_agents.js';

interface Message {
  readonly type: 'human' | 'ai' | 'tool';
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
  readonly name?: string;
  readonly tool_calls?: readonly { readonly name: string }[];
}

/** A message that the client sends. */
type Sent =
  | { readonly type: 'human'; readonly content: string }
  | {
      readonly type: 'tool';
      readonly tool_call_id: string;
      readonly name: string;
      readonly content: string;
    };

interface ClientEvent {
  readonly partial?: boolean;
  readonly errorMessage?: string;
}

interface Accumulator {
  processEvent(event: ClientEvent): Message[];
  getToolConfirmations(): { readonly toolCallId: string; readonly toolName: string }[];
  getLongRunningToolIds(): string[];
  getStateDelta(): unknown;
}

/** What the test uses of the package. Its own types need those of React. */
interface ClientPackage {
  createAdkStream(options: { api: string; appName: string; userId: string }): (
    messages: readonly Sent[],
    config: {
      readonly initialize: () => Promise<{ externalId: string }>;
      readonly abortSignal: AbortSignal;
      readonly stateDelta?: object;
    },
  ) => AsyncIterable<ClientEvent>;
  createAdkSessionAdapter(options: { apiUrl: string; appName: string; userId: string }): {
    readonly adapter: {
      initialize(id: string): Promise<{ externalId: string }>;
      list(): Promise<{ threads: { remoteId: string }[] }>;
      delete(id: string): Promise<void>;
    };
    readonly load: (id: string) => Promise<{ messages: Message[]; toolConfirmations?: unknown[] }>;
  };
  readonly AdkEventAccumulator: new () => Accumulator;
}

/** A message in short: its text, or the names of its calls. */
function inShort({ type, content, name, tool_calls: calls = [] }: Message): string {
  if (type === 'tool') return `${name} → ${JSON.stringify(content)}`;
  const text =
    typeof content === 'string' ? content : content.map((part) => part.text ?? part.type).join('');
  return [type, text, ...calls.map((call) => `${call.name}()`)].filter(Boolean).join(' ');
}

const says = (text: string) => ({ content: { role: 'model', parts: [{ text }] } });
const calls = (name: string) => ({
  content: { role: 'model', parts: [{ functionCall: { name, args: { n: 1 } } }] },
});

describe('@assistant-ui/react-google-adk over the handler', { timeout: 60_000 }, () => {
  let server: Awaited<ReturnType<typeof startScriptedAgents>>;
  let client: ClientPackage;
  before(async () => {
    server = await startScriptedAgents();
    const folder = join(installPackages('assistant_ui'), 'node_modules');
    const entry = join(folder, '@assistant-ui/react-google-adk/dist/index.js');
    client = (await import(pathToFileURL(entry).href)) as ClientPackage;
  });
  after(() => server.end());

  /** Opens a session of a user, as the client's runtime does. */
  async function openThread(userId = 'ada') {
    const user = { appName: APP, userId };
    const { adapter, load } = client.createAdkSessionAdapter({ apiUrl: server.url, ...user });
    const { externalId } = await adapter.initialize('thread');
    const stream = client.createAdkStream({ api: server.url, ...user });
    const accumulator = new client.AdkEventAccumulator();
    /** Sends messages, and returns what the client shows after each event. */
    const send = async (
      messages: readonly Sent[],
      more: { signal?: AbortSignal; stateDelta?: object; onShown?: () => void } = {},
    ) => {
      const { signal = new AbortController().signal, stateDelta, onShown } = more;
      const config = {
        initialize: () => Promise.resolve({ externalId }),
        abortSignal: signal,
        ...(stateDelta && { stateDelta }),
      };
      const shown: string[][] = [];
      for await (const event of stream(messages, config)) {
        shown.push(accumulator.processEvent(event).map(inShort));
        onShown?.();
      }
      return shown;
    };
    const ask = (replies: Replies, more = {}) =>
      send([{ type: 'human', content: scriptOf(replies) }], more);
    const loaded = async () => {
      const { messages } = await load(externalId);
      return messages.filter(({ type }) => type !== 'human').map(inShort);
    };
    return { adapter, load, accumulator, send, ask, loaded, externalId };
  }

  it('shows an answer as it is streamed, and loads it', async () => {
    const { ask, loaded, accumulator, adapter, externalId } = await openThread();
    const partial = true;
    const replies = [[{ ...says('Gr'), partial }, { ...says('een'), partial }, says('Green')]];
    const shown = await ask(replies, { stateDelta: { topic: 'tea' } });
    assert.deepEqual(shown, [['ai Gr'], ['ai Green'], ['ai Green']]);
    assert.deepEqual(await loaded(), ['ai Green']);
    // The delta is on the user's event, which the stream does not have.
    assert.deepEqual(accumulator.getStateDelta(), {});
    const { threads } = await adapter.list();
    assert.ok(threads.some(({ remoteId }) => remoteId === externalId));
    await adapter.delete(externalId);
    await assert.rejects(ask([[says('late')]]), /404/);
  });

  for (const [confirmed, outcome] of [
    [true, /"?paid/],
    [false, /rejected/],
  ] as const) {
    it(`answers a confirmation with ${confirmed}`, async () => {
      const { ask, send, loaded, load, accumulator, externalId } = await openThread();
      await ask([[calls('pay')], [says('Done')]]);
      // The client also notes the actions of an event, without the name of a tool.
      const questions = accumulator
        .getToolConfirmations()
        .filter(({ toolName }) => toolName !== '');
      assert.deepEqual(
        questions.map(({ toolName }) => toolName),
        ['pay'],
      );
      const [question] = questions;
      assert.equal((await load(externalId)).toolConfirmations?.length, 2);
      const answer: Sent = {
        type: 'tool',
        tool_call_id: question!.toolCallId,
        name: 'adk_request_confirmation',
        content: JSON.stringify({ confirmed }),
      };
      const shown = (await send([answer])).at(-1)!;
      assert.equal(shown.at(-1), 'ai Done');
      assert.match(
        shown.find((text) => text.startsWith('pay →'))!,
        outcome,
      );
      assert.equal((await loaded()).at(-1), 'ai Done');
      await assert.rejects(send([answer]), /409/, 'a second answer');
    });
  }

  it('gives the result of a long-running tool', async () => {
    const { ask, send, accumulator } = await openThread();
    await ask([[calls('order')], [says('Ordered')], [says('It is here')]]);
    const [id, ...others] = accumulator.getLongRunningToolIds();
    assert.deepEqual(others, []);
    const content = JSON.stringify({ status: 'here' });
    const shown = await send([{ type: 'tool', tool_call_id: id!, name: 'order', content }]);
    assert.equal(shown.at(-1)!.at(-1), 'ai It is here');
  });

  it('stops a run by its signal, and asks again', async () => {
    const { ask, loaded } = await openThread();
    const client = new AbortController();
    const partial = true;
    const asked = ask([[{ ...says('Gr'), partial }, { wait: 5 }, says('Green')]], {
      signal: client.signal,
      onShown: () => client.abort(),
    });
    await assert.rejects(asked, { name: 'AbortError' });
    for (;;) {
      if ((await loaded()).length > 0) break;
      await sleep(20);
    }
    // This client shows the end event, and no interrupted texts.
    assert.deepEqual(await loaded(), ['ai Invocation was aborted by client.']);
    const shown = await ask([[says('Again')]]);
    assert.equal(shown.at(-1)!.at(-1), 'ai Again');
  });

  it('shows a run that fails, and a request that is refused', async () => {
    const { externalId } = await openThread();
    const stream = client.createAdkStream({ api: server.url, appName: APP, userId: 'ada' });
    const config = {
      initialize: () => Promise.resolve({ externalId }),
      abortSignal: new AbortController().signal,
      stateDelta: { lost: true },
    };
    const events: ClientEvent[] = [];
    for await (const event of stream([{ type: 'human', content: 'hi' }], config))
      events.push(event);
    assert.deepEqual(
      events.map(({ errorMessage }) => errorMessage),
      ['run_failed: The agent failed.'],
    );
    assert.equal(server.errors.length, 1);
    const other = client.createAdkStream({ api: server.url, appName: APP, userId: 'bob' });
    await assert.rejects(async () => {
      for await (const event of other([{ type: 'human', content: 'hi' }], config))
        assert.fail(JSON.stringify(event));
    }, /403/);
  });
});
