// What the tests of runs on a server share: a handler with an agent behind Node's http, and pages of its users.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { httpServer } from '../../../../http_server.js';
import { InMemorySessionService, type SessionService } from '../../../../../js/index.js';
import { inOtherProcess } from '../../../server/other_process.js';
import {
  nodeListener,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../../../js/server/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import {
  type RemoteSessionOptions,
  RemoteSessionService,
} from '../../../../../js/service/remote/index.js';
import {
  liveSession,
  type LiveSessionSnapshot,
  type RunAgent,
} from '../../../../../js/ui/live/index.js';
import { KEY } from '../stores.js';
import { textsOf } from './agents.js';

/** An agent that streams and stores what the test says. */
export function scripted() {
  const steps: (string | undefined)[] = [];
  const asked: string[] = [];
  let wake = (): void => undefined;
  const run: RunAgent = async function* ({ message, signal }) {
    asked.push(textsOf([message])[0]!);
    signal.addEventListener('abort', () => wake());
    let all = '';
    while (!signal.aborted) {
      if (steps.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else {
        const text = steps.shift();
        const content = (shown: string) => ({ role: 'model', parts: [{ text: shown }] });
        if (text === undefined) {
          yield { author: 'guide', content: content(all) };
          return;
        }
        all += text;
        yield { author: 'guide', partial: true, content: content(text) };
      }
    }
  };
  const say = (...texts: (string | undefined)[]): void => {
    steps.push(...texts);
    wake();
  };
  /** Streams the texts, and ends the answer. */
  const answer = (...texts: string[]): void => say(...texts, undefined);
  return { run, say, answer, asked };
}

/** A handler behind Node's http. It can be closed, and opened again at the same address, as another process. */
export class ServedAgent {
  readonly service: InMemorySessionService;
  #run: RunAgent | undefined;
  #server: Server | undefined;
  readonly #handlers: ReturnType<typeof sessionHandler>[] = [];
  #port = 0;
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #stops: (() => void)[] = [];
  /** What the handler's `onError` got. */
  readonly errors: unknown[] = [];
  /** Whether the handler knows who sends a request. */
  isSignedIn = true;

  /** @param service default: a new one. Another one of the same service is another process over its storage */
  constructor(run: RunAgent | undefined, service = new InMemorySessionService()) {
    this.#run = run;
    this.service = service;
  }

  async open(run = this.#run, limits: Partial<SessionHandlerOptions> = {}): Promise<this> {
    this.#run = run;
    const authorize = () => (this.isSignedIn ? (true as const) : ('unauthenticated' as const));
    const onError = (error: unknown): void => void this.errors.push(error);
    const options = { authorize, onError, ...(run && { run }), ...limits };
    const handler = sessionHandler(inOtherProcess(this.service), options);
    this.#handlers.push(handler);
    const listener = nodeListener(handler);
    const server = (this.#server = httpServer((request, response) => {
      void listener(request, response);
    }));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Ends the server, and all its connections, as a killed process. */
  async kill(): Promise<void> {
    this.cutFeeds();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** Cuts all connections, the feeds among them. */
  cutFeeds(): void {
    this.#server?.closeAllConnections();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Opens the service of another device. */
  remote(fetch?: RemoteSessionOptions['fetch']): RemoteSessionService {
    const remote = new RemoteSessionService({ url: this.origin, timeoutMs: 5000, fetch });
    this.#opened.push(remote);
    return remote;
  }

  /** Opens a cache of another device, or of another tab over the same local data. */
  cache(local = new MemoryLocalStore(), remote = this.remote()): CachedSessionService {
    const cache = new CachedSessionService({ owner: 'ada', remote, local });
    this.#opened.unshift(cache);
    return cache;
  }

  /** Opens the page of a service, with a subscriber. */
  async page(service: SessionService) {
    const chat = liveSession(service, KEY);
    const texts: string[] = [];
    const shown: LiveSessionSnapshot[] = [];
    const stop = chat.subscribe((snapshot) => {
      shown.push(snapshot);
      const all = [...snapshot.events, ...snapshot.drafts];
      texts.push(textsOf(all.filter(({ author }) => author === 'guide')).join('|'));
    });
    this.#stops.push(stop);
    await chat.load();
    return { chat, texts, shown, stop };
  }

  async end(): Promise<void> {
    for (const stop of this.#stops) stop();
    for (const opened of this.#opened) await opened.close();
    for (const handler of this.#handlers) await handler.close({ graceMs: 0 });
    await this.kill();
  }
}

/** Whether each text continues the one before. */
export function growsOnly(texts: readonly string[]): boolean {
  return texts.every((text, at) => at === 0 || text.startsWith(texts[at - 1]!));
}
