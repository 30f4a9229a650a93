import type { Notice, Notices } from '../../watch/notice.js';
import { COMMON_HEADERS } from '../http/json_response.js';

/** Milliseconds after which a silent feed sends a comment, so that proxies keep it open. */
const HEARTBEAT_MS = 15_000;

/**
 * Makes a response that sends notices as server-sent events, one notice an event:
 * `data: {"type": "appended", …}`.
 *
 * A feed that continues an earlier one (`Last-Event-ID`) begins with a `resync` notice: changes in between
 * are not kept. A client that reads slowly costs no memory, since only the newest notice of each session is
 * pending.
 *
 * @param notices the notices; ended with the response
 * @param isContinued whether the client has missed notices
 * @param maxAgeMs milliseconds after which the feed ends, so that its permission is asked for again
 * @param onEnd called once, when the feed has ended
 */
export function changeFeed(
  notices: Notices,
  isContinued: boolean,
  maxAgeMs: number,
  onEnd: () => void,
): Response {
  const feed = new FeedSource(notices, isContinued, maxAgeMs, onEnd);
  const stream = new ReadableStream<Uint8Array>(feed, { highWaterMark: 0 });
  return new Response(stream, {
    headers: {
      ...COMMON_HEADERS,
      'content-type': 'text/event-stream',
      // Otherwise nginx would hold back the events.
      'x-accel-buffering': 'no',
    },
  });
}

class FeedSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #encoder = new TextEncoder();
  readonly #notices: Notices;
  readonly #onEnd: () => void;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  #nextId = 1;
  #hasEnded = false;
  /** Text to send before anything else. */
  #first: string | undefined;
  /** The notice that is waited for; kept while heartbeats are sent. */
  #next: Promise<IteratorResult<Notice, undefined>> | undefined;

  constructor(notices: Notices, isContinued: boolean, maxAgeMs: number, onEnd: () => void) {
    this.#notices = notices;
    this.#onEnd = onEnd;
    this.#first = isContinued ? this.#eventOf({ type: 'resync' }) : ': connected\n\n';
    this.#lifetime = setTimeout(() => void notices.return(), maxAgeMs);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const text = this.#takeFirst() ?? (await this.#nextText());
    if (text !== undefined) {
      controller.enqueue(this.#encoder.encode(text));
      return;
    }
    if (this.#end()) controller.close();
  }

  async cancel(): Promise<void> {
    this.#end();
    await this.#notices.return();
  }

  #takeFirst(): string | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }

  /** Returns the text of the next notice, a comment if none comes for a while, or `undefined` at the end. */
  async #nextText(): Promise<string | undefined> {
    this.#next ??= this.#notices.next();
    const result = await withinHeartbeat(this.#next);
    if (result === undefined) return ': still here\n\n';
    this.#next = undefined;
    return result.done === true ? undefined : this.#eventOf(result.value);
  }

  #eventOf(notice: Notice): string {
    const id = this.#nextId;
    this.#nextId += 1;
    return `id: ${id}\ndata: ${JSON.stringify(notice)}\n\n`;
  }

  /** @returns `false` if the feed has ended before: cancelling it also ends a `pull` that waits */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearTimeout(this.#lifetime);
    this.#onEnd();
    return true;
  }
}

/** Returns `undefined` if the promise has not settled after {@link HEARTBEAT_MS}. */
async function withinHeartbeat<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), HEARTBEAT_MS);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
