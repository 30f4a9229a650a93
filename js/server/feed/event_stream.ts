/** Streams of server-sent events: the change feeds, and the answers to messages with the reports of their runs. */
import { onAbort } from '../../core/call/time_limit.js';
import { HEARTBEAT_MS } from '../http/responses.js';

/** What one stream sends: texts of whole events. */
export interface StreamTexts {
  /** Resolves when the first text may be sent. */
  readonly begun?: Promise<void> | undefined;
  /** Whether no text comes after those that {@link StreamTexts.take} has now. */
  readonly hasEnded: boolean;
  /** Takes the next text, if there is one. */
  take(): string | undefined;
  /** Returns the text of a comment, which shows that a silent stream is still open. */
  comment(): string;
  /** Called once, when the stream has ended. */
  end(): void;
}

/** Makes what a stream sends. `onNews` tells the stream that there may be another text, or that there is none left. */
type MakeTexts = (onNews: () => void) => StreamTexts;

/** The limits of streams. */
export interface StreamLimits {
  /** The most streams that are open at once. */
  readonly maxFeeds: number;
  /** Milliseconds after which a stream ends, so that its permission is asked for again. */
  readonly maxFeedAgeMs: number;
}

/** The open streams of a handler. */
export class OpenStreams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<StreamSource>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Whether no further stream may be opened. */
  get isFull(): boolean {
    return this.#open.size >= this.#limits.maxFeeds;
  }

  /**
   * Opens a stream.
   *
   * @param signal ends the stream. A client may go before it reads the response
   */
  open(make: MakeTexts, signal: AbortSignal): ReadableStream<Uint8Array> {
    const onEnd = (): void => void this.#open.delete(source);
    const source: StreamSource = new StreamSource(make, this.#limits.maxFeedAgeMs, onEnd);
    this.#open.add(source);
    source.follow(signal);
    return new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  }

  /** Ends all streams when they have sent what they have. */
  close(): void {
    for (const source of this.#open) source.finish();
  }
}

class StreamSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #encoder = new TextEncoder();
  readonly #texts: StreamTexts;
  readonly #onEnd: () => void;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  #ignoreSignal = (): void => undefined;
  /** Ends the wait of `pull`, with the text to send or without one. */
  #wait: ((text: string | undefined) => void) | undefined;
  #isFinishing = false;
  #isOver = false;
  #isCancelled = false;

  constructor(make: MakeTexts, maxAgeMs: number, onEnd: () => void) {
    this.#texts = make(() => this.#continue());
    this.#onEnd = onEnd;
    this.#lifetime = setTimeout(() => this.#end(), maxAgeMs);
  }

  /** Ends the stream when the signal fires, or has fired. */
  follow(signal: AbortSignal): void {
    this.#ignoreSignal = onAbort(signal, () => this.#end());
    if (signal.aborted) this.#end();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await this.#texts.begun;
    const text = this.#isOver ? undefined : (this.#texts.take() ?? (await this.#nextText()));
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

  /** Ends the stream when it has sent what it has. */
  finish(): void {
    this.#isFinishing = true;
    // A client that does not read would hold the program.
    clearTimeout(this.#lifetime);
    this.#continue();
  }

  get #hasEnded(): boolean {
    return this.#isFinishing || this.#texts.hasEnded;
  }

  /** Waits for the next text. Returns a comment if none comes for a while, and `undefined` at the end. */
  #nextText(): Promise<string | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wait?.(this.#texts.comment()), HEARTBEAT_MS);
      this.#wait = (text) => {
        this.#wait = undefined;
        clearTimeout(timer);
        resolve(text);
      };
    });
  }

  /** Ends the wait if there is news for it. */
  #continue(): void {
    if (this.#wait === undefined) return;
    const text = this.#texts.take();
    if (text !== undefined || this.#hasEnded) this.#wait(text);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#lifetime);
    this.#ignoreSignal();
    this.#texts.end();
    this.#onEnd();
    this.#wait?.(undefined);
  }
}
