// The network between tabs and the handler. Each request takes some milliseconds each way. A schedule gives the next
// requests of a device their fates.

import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../js/stores/http/protocol.js';
import type { Device, Tab } from './device.js';
import { type Actor, OUTSIDE, type World } from './world.js';

/** Milliseconds of each way. */
const WAY_MS = 10;

/** What answers the requests of a network. */
export interface Answering {
  /** Present: its code hears that a client has left. */
  readonly actor?: Actor | undefined;
  /** @returns nothing if the connection is lost */
  handle(request: Request, body: string): Promise<Response | undefined>;
}

export class Network {
  readonly #world: World;
  readonly #server: Answering;
  readonly #onForget: (tab: Tab) => void;
  /** The requests that have not reached the handler. */
  underWay = 0;
  readonly #feeds = new Map<ReadableStreamDefaultController<Uint8Array>, Tab>();

  /** @param onForget called when a tab gets the order to forget */
  constructor(world: World, server: Answering, onForget: (tab: Tab) => void) {
    this.#world = world;
    this.#server = server;
    this.#onForget = onForget;
  }

  /** The `fetch` of a tab. */
  fetchOf(tab: Tab): typeof fetch {
    return (input, init = {}) =>
      new Promise<Response>((resolve, reject) => {
        const { signal } = init;
        if (signal?.aborted) return reject(signal.reason as Error);
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        this.#send(tab, input as string, init, resolve, reject);
      });
  }

  /** Breaks the open feeds of a device. */
  cut(device: Device): void {
    for (const [controller, tab] of this.#feeds) {
      if (tab.device !== device) continue;
      this.#feeds.delete(controller);
      this.#world.at(0, tab, () => controller.error(new TypeError('terminated')));
    }
  }

  #send(
    tab: Tab,
    url: string,
    init: RequestInit,
    resolve: (response: Response) => void,
    reject: (error: Error) => void,
  ): void {
    const { device } = tab;
    const { method = 'GET' } = init;
    const body = (init.body ?? '') as string;
    const line = `tab ${tab.number} ${method} ${url.slice('http://server.test'.length)}`;
    this.#requireOwn(tab, `${line} ${body}`);
    tab.exchange();
    const {
      fate,
      ms = 0,
      place = 0.5,
      ...made
    } = (device.isOffline ? undefined : device.fates.shift()) ?? {};
    this.#world.note(`${line} ${body.slice(0, 400)}${fate ? ` -> ${fate} ${ms}` : ''}`);
    const leaving = new AbortController();
    const leave = (after = WAY_MS): void => {
      const { actor } = this.#server;
      if (actor !== undefined) this.#world.at(after, actor, () => leaving.abort());
    };
    init.signal?.addEventListener('abort', () => leave());
    void tab.death.catch(() => leave());
    const lose = (after: number): void =>
      this.#world.at(after, tab, () => reject(new TypeError('fetch failed')));
    const answer = (response: Response, after = WAY_MS): void =>
      this.#world.at(after, tab, () => {
        tab.exchange();
        if (device.isOffline) return reject(new TypeError('fetch failed'));
        const { status } = response;
        if (status >= 300) this.#world.note(`  ${line} gets ${status}`);
        if (status === 410) this.#onForget(tab);
        resolve(response);
      });
    if (device.isOffline) return lose(WAY_MS);
    if (fate === 'dropped') return lose(ms);
    if (fate === 'status') return answer(madeUp(made.status!, made.isHandler!));
    const sent = fate === 'body cut' ? body.slice(0, body.length / 2) : body;
    const handle = (): Promise<Response | undefined> => {
      const { signal } = leaving;
      const given = { method, headers: init.headers!, body: sent || null, signal };
      const request = new Request(url, given);
      const cut = (): Request =>
        new Request(url, { ...given, body: brokenAt(body, place), duplex: 'half' } as RequestInit);
      return this.#server.handle(fate === 'request cut' && body !== '' ? cut() : request, sent);
    };
    const deliver = async (): Promise<void> => {
      if (fate === 'answer lost' || fate === 'request cut') leave(ms);
      const response = await handle();
      if (response === undefined) return lose(WAY_MS);
      const { status, headers } = response;
      if (headers.get('content-type')?.startsWith('text/event-stream')) {
        return answer(this.#feedTo(tab, response, init.signal!));
      }
      if (fate === 'answer lost' || fate === 'request cut') return lose(ms);
      if (!fate?.startsWith('answer'))
        return answer(response, fate === 'late answer' ? ms : WAY_MS);
      const whole = await response.text();
      const part = fate === 'answer broken' ? brokenAt(whole, place) : partOf(whole, place);
      answer(new Response(part, { status, headers }));
    };
    const start = (run: () => Promise<unknown>, after: number): void => {
      this.underWay += 1;
      this.#world.at(after, OUTSIDE, () => {
        this.underWay -= 1;
        run().catch((error: unknown) => this.#world.fail(`the handler throws ${String(error)}`));
      });
    };
    start(deliver, fate === 'late' ? ms : WAY_MS);
    if (fate === 'doubled') start(handle, ms);
  }

  /** Passes what a feed sends on to the tab. */
  #feedTo(tab: Tab, { body, headers }: Response, signal: AbortSignal): Response {
    const reader = body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const stop = (): void => void reader.cancel().catch(() => undefined);
    let leave = stop;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const isOpen = (): boolean => this.#feeds.has(controller) && !tab.isDead && !signal.aborted;
        const pump = async (): Promise<void> => {
          const { done, value } = await reader.read();
          if (!isOpen()) return stop();
          this.#world.at(WAY_MS, tab, () => {
            if (!isOpen()) return;
            const text = new TextDecoder().decode(value).trim();
            this.#world.note(`  the feed tells tab ${tab.number}: ${text}`);
            if (value !== undefined) controller.enqueue(value);
            if (done && this.#feeds.delete(controller)) controller.close();
          });
          if (!done) return pump();
        };
        this.#feeds.set(controller, tab);
        // A page leaves the stream of an answer when its run has ended, without an abort.
        leave = () => {
          this.#feeds.delete(controller);
          stop();
        };
        void pump();
      },
      cancel: () => leave(),
    });
    return new Response(stream, { headers });
  }

  /** Each value names its writer. A device posts nothing of another one, and an owner nothing of another one. */
  #requireOwn({ owner, device }: Tab, text: string): void {
    for (const [value, number, writer] of text.matchAll(/\bd(\w+)\.(\w+)\.[\d.]+/g)) {
      if (number === String(device.number) && writer === owner) continue;
      this.#world.fail(`${owner} on device ${device.number} posts ${value}: ${text}`);
    }
  }
}

function partOf(text: string, place: number): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  return bytes.slice(0, Math.floor(bytes.length * place));
}

/** A body whose connection breaks. */
function brokenAt(text: string, place: number): ReadableStream<Uint8Array> {
  const parts = [partOf(text, place)].filter(({ length }) => length > 0);
  return new ReadableStream({
    pull: (controller) => {
      const part = parts.shift();
      if (part === undefined) controller.error(new TypeError('terminated'));
      else controller.enqueue(part);
    },
  });
}

/** An answer that does not come from the handler, or that its authorization gives. */
function madeUp(status: number, isHandler: boolean): Response {
  const isJson = isHandler || status >= 500;
  const json = JSON.stringify({ detail: `status ${status}`, ...(status === 410 && { code: 'forget' }) }); // prettier-ignore
  const headers: Record<string, string> = {
    'content-type': isJson ? 'application/json' : 'text/html',
    ...(isHandler && { [PROTOCOL_HEADER]: PROTOCOL_VERSION }),
    ...((status === 429 || status === 503) && { 'retry-after': '2' }),
  };
  return new Response(isJson ? json : '<html>Sign in</html>', { status, headers });
}
