import { onAbort } from '../../core/call/time_limit.js';
import type { WatchRequest } from '../../values/model/notice.js';
import { eventStreamResponse, HEARTBEAT_MS } from '../http/responses.js';
import type { ChangeLog } from './change_log.js';
import type { ServerRuns } from '../runs/server_runs.js';
import { RunFeed } from './run_feed.js';

/** What a feed sends, and for how long. */
export interface FeedSettings {
  readonly log: ChangeLog;
  readonly watched: WatchRequest;
  /** Absent: the server has no agent. */
  readonly runs: ServerRuns | undefined;
  readonly maySeeCredentials: boolean;
  /** The id of the last event that the client has, or `null`: the feed begins now. */
  readonly lastEventId: string | null;
  /** Ends the feed. A client may go before it reads the response. */
  readonly signal: AbortSignal;
  /** Milliseconds after which the feed ends, so that its permission is asked for again. */
  readonly maxAgeMs: number;
  /** Called once, when the feed has ended. */
  readonly onEnd: () => void;
  /** Gets an error of the log, for as long as the feed is open. */
  readonly onError: (error: unknown) => void;
}

/**
 * Makes a response that sends notices as server-sent events, one notice an event:
 * `data: {"type": "appended", …}`.
 *
 * A feed with a `Last-Event-ID` continues after that event. It begins with a `resync` notice if the log does not
 * have all that followed.
 */
export function changeFeed(feed: FeedSettings): Response {
  const stream = new ReadableStream<Uint8Array>(new FeedSource(feed), { highWaterMark: 0 });
  return eventStreamResponse(stream);
}

class FeedSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #encoder = new TextEncoder();
  readonly #feed: FeedSettings;
  readonly #listening: ReturnType<ChangeLog['listen']>;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  readonly #ignoreSignal: () => void;
  readonly #runs: RunFeed | undefined;
  #hasToldRuns = false;
  #position: number;
  /** Text to send before anything else. */
  #first: string | undefined;
  /** Ends the wait of `pull`, with the text to send or without one. */
  #wait: ((text: string | undefined) => void) | undefined;
  #isOver = false;
  #isCancelled = false;

  constructor(feed: FeedSettings) {
    const { log, lastEventId, signal, maxAgeMs, onError } = feed;
    const { userId } = feed.watched;
    this.#feed = feed;
    const position = lastEventId === null ? log.last : log.positionOf(lastEventId);
    this.#position = position ?? log.last;
    this.#first = this.#eventOf(position === undefined ? 'data: {"type":"resync"}' : ': connected');
    this.#listening = log.listen({ userId, onChange: () => this.#continue(), onError });
    const { runs, watched, maySeeCredentials } = feed;
    const onRunChange = (): void => this.#continue();
    this.#runs = runs && new RunFeed(runs, watched, maySeeCredentials, onRunChange);
    this.#lifetime = setTimeout(() => this.#end(), maxAgeMs);
    this.#ignoreSignal = onAbort(signal, () => this.#end());
    if (signal.aborted) this.#end();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    // A client reads everything when its feed has begun. Each change must be in what it reads, or in the feed.
    await this.#listening.begun;
    const text = this.#isOver ? undefined : (this.#takeText() ?? (await this.#nextText()));
    if (text !== undefined) controller.enqueue(this.#encoder.encode(text));
    else if (!this.#isCancelled) {
      this.#end();
      controller.close();
    }
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#end();
  }

  /** Returns the text of the first event that was not sent yet, if there is one. */
  #takeText(): string | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    if (this.#runs !== undefined && !this.#hasToldRuns) {
      this.#hasToldRuns = true;
      return this.#eventOf(`data: ${this.#runs.first()}`);
    }
    const { log, watched } = this.#feed;
    const { position, notice } = log.next(this.#position, watched);
    this.#position = position;
    const text = notice === undefined ? this.#runs?.next() : JSON.stringify(notice);
    return text === undefined ? undefined : this.#eventOf(`data: ${text}`);
  }

  /** Waits for the next event. Returns a comment if none comes for a while, and `undefined` at the end. */
  #nextText(): Promise<string | undefined> {
    if (this.#feed.log.hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const heartbeat = (): void => this.#wait?.(this.#eventOf(': still here'));
      const timer = setTimeout(heartbeat, HEARTBEAT_MS);
      this.#wait = (text) => {
        this.#wait = undefined;
        clearTimeout(timer);
        resolve(text);
      };
    });
  }

  /** Ends the wait if the log has news for it. */
  #continue(): void {
    if (this.#wait === undefined) return;
    const text = this.#takeText();
    if (text !== undefined || this.#feed.log.hasEnded) this.#wait(text);
  }

  /** Makes an event with a position, from which the client can continue. Comments are events without data. */
  #eventOf(line: string): string {
    return `${line}\nid: ${this.#feed.log.idOf(this.#position)}\n\n`;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#lifetime);
    this.#ignoreSignal();
    this.#listening.stop();
    this.#runs?.end();
    this.#feed.onEnd();
    this.#wait?.(undefined);
  }
}
