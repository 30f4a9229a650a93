// What the tests of pages over the real `adk api_server` share: a page, whose requests can be counted and cut.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Event } from '../../../js/index.js';
import { CachedSessionService, type LocalStore } from '../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import type { HostFetch } from '../../../js/values/model/host.js';
import {
  liveSession,
  type LiveSession,
  type LiveSessionSnapshot,
} from '../../../js/ui/live/index.js';
import { type Replies, type Step, scriptOf } from '../runs/scripted_agents.js';

let sessions = 0;

/** The key of a session that does not exist yet. */
export function newKey(appName = 'scripted') {
  sessions += 1;
  return { appName, userId: 'ada', sessionId: `page${sessions}` };
}

/** A page that shows a session, and what it was shown. */
export class Page {
  readonly key: ReturnType<typeof newKey>;
  readonly service: RemoteSessionService;
  /** Present with a local store. */
  readonly cache: CachedSessionService | undefined;
  readonly chat: LiveSession;
  readonly seen: LiveSessionSnapshot[] = [];
  /** The requests that were sent, as `POST /run_sse`. */
  readonly requests: string[] = [];
  /** The bodies of the requests to run an agent. */
  readonly bodies: Record<string, unknown>[] = [];
  /** The number of events after which the stream of a run is cut. */
  cutAfter = Infinity;
  /** Called with each request to run an agent, before it is sent. */
  onRun: () => void = () => undefined;
  /** Milliseconds after which a request to run an agent reaches the server. Present: the page loses its answer at once. */
  arrivesAfter: number | undefined;
  /** Whether requests fail that are sent from now on. */
  isOffline = false;
  readonly #stop: () => void;

  /** @param options with a local store, the page has a cache */
  constructor(
    url: string,
    key = newKey(),
    { local, isOffline = false }: { local?: LocalStore; isOffline?: boolean } = {},
  ) {
    this.key = key;
    this.isOffline = isOffline;
    const remote = new RemoteSessionService({ url, retries: 0, fetch: this.#fetch });
    this.service = remote;
    this.cache = local && new CachedSessionService({ remote, local, owner: 'ada' });
    this.chat = liveSession(this.cache ?? remote, this.key);
    this.#stop = this.chat.subscribe((snapshot) => void this.seen.push(snapshot));
  }

  get snapshot(): LiveSessionSnapshot {
    return this.chat.getSnapshot();
  }

  /** The number of requests to run an agent. */
  get runs(): number {
    return this.requests.filter((request) => request === 'POST /run_sse').length;
  }

  ask(replies: Replies): Promise<Event> {
    return this.chat.ask(userContent(scriptOf(replies)));
  }

  /** Waits until nothing runs and what stands there is shown. The half answer of a failed run stays a draft. */
  async settled(): Promise<LiveSessionSnapshot> {
    return this.until(({ run, drafts }) => {
      const isOver = run?.status !== 'running' && run?.status !== 'queued';
      const isStored = drafts.length === 0 || run?.status === 'failed';
      return isOver && isStored && this.seen.at(-1) === this.snapshot;
    });
  }

  async until(
    condition: (snapshot: LiveSessionSnapshot) => boolean,
    waitMs = 10_000,
  ): Promise<LiveSessionSnapshot> {
    for (const end = performance.now() + waitMs; !condition(this.snapshot); await sleep(10)) {
      if (performance.now() > end) {
        throw new Error(`The page shows ${JSON.stringify(this.snapshot, undefined, 1)}`);
      }
    }
    return this.snapshot;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.cache?.close();
    await this.service.close();
  }

  readonly #fetch: HostFetch = async (input, init = {}) => {
    const url = input as string;
    const { pathname } = new URL(url);
    const method = init.method ?? 'GET';
    if (this.isOffline) throw new TypeError('the network is gone');
    this.requests.push(`${method} ${pathname}`);
    if (pathname !== '/run_sse') return fetch(url, init);
    this.bodies.push(JSON.parse(init.body as string) as Record<string, unknown>);
    this.onRun();
    if (this.arrivesAfter !== undefined) {
      const arrive = () => fetch(url, { ...init, signal: null }).then((late) => late.text());
      setTimeout(() => void arrive().catch(() => undefined), this.arrivesAfter);
      throw new TypeError('the network is gone');
    }
    const ending = new AbortController();
    init.signal?.addEventListener('abort', () => ending.abort());
    const response = await fetch(url, { ...init, signal: ending.signal });
    if (this.cutAfter === Infinity || response.body === null) return response;
    return new Response(cut(response.body, this.cutAfter, ending), response);
  };
}

/** Cuts a stream after so many events: the page and the server lose the connection. */
function cut(
  body: ReadableStream<Uint8Array>,
  events: number,
  connection: AbortController,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let left = events;
  let pending = '';
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        pending += decoder.decode(chunk, { stream: true });
        const whole = pending.split('\n\n');
        pending = whole.pop()!;
        for (const event of whole) {
          if (left > 0) controller.enqueue(new TextEncoder().encode(`${event}\n\n`));
          left -= 1;
        }
        if (left > 0) return;
        controller.error(new Error('the network is gone'));
        connection.abort();
      },
    }),
  );
}

export const userContent = (text: string) => ({ role: 'user', parts: [{ text }] });
export const says = (text: string): Step => ({ content: { role: 'model', parts: [{ text }] } });
export const partial = (text: string, thought = false): Step => ({
  content: { role: 'model', parts: [{ text, ...(thought && { thought }) }] },
  partial: true,
});
export const calls = (
  ...functionCalls: { name: string; args: Record<string, unknown> }[]
): Step => ({
  content: { role: 'model', parts: functionCalls.map((functionCall) => ({ functionCall })) },
});
export const call = (name: string, n: number) => ({ name, args: { n } });

/** What an event shows: its texts, calls and responses. A message of the user is `…`. */
export function lineOf({ author, content, errorCode }: Event): string {
  const parts = (content?.parts ?? []).map(({ text, thought, functionCall, functionResponse }) => {
    if (functionCall !== undefined) return `${functionCall.name}()`;
    if (functionResponse !== undefined) return `=${functionResponse.name}`;
    return author === 'user' ? '…' : thought === true ? `(${text})` : text;
  });
  return [...parts, ...(errorCode === undefined ? [] : [errorCode])].join(' ');
}

export const linesOf = ({ events, drafts }: LiveSessionSnapshot): string[] =>
  [...events, ...drafts].map(lineOf);

/** Returns the different lines and statuses that a page was shown, in order. */
export function shownBy(seen: readonly LiveSessionSnapshot[]): string[] {
  const shown = seen.map(
    (snapshot) => `${snapshot.run?.status ?? '-'}: ${linesOf(snapshot).join(' | ')}`,
  );
  return shown.filter((line, at) => line !== shown[at - 1]);
}

/** No snapshot may have an id twice, in its events and drafts. */
export function requireOnce(seen: readonly LiveSessionSnapshot[]): void {
  for (const { events, drafts } of seen) {
    const ids = [...events, ...drafts].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, JSON.stringify([...events, ...drafts]));
    const messages = events.filter(({ author }) => author === 'user').map(lineOf);
    const texts = events.flatMap(({ author, content }) =>
      author === 'user' ? [JSON.stringify(content)] : [],
    );
    assert.equal(new Set(texts).size, messages.length, JSON.stringify(events));
  }
}
