import type { HostBroadcastChannel, HostEventTarget } from '../../values/model/host.js';

/** The part of a `BroadcastChannel` that is used here. */
export type TabBroadcast = Pick<HostBroadcastChannel, 'postMessage' | 'close' | 'onmessage'>;

/** The functions that the channel needs from its host; tests replace them. */
export interface TabHost {
  /** Opens the channel of that name. Absent if the host has none, or none shall be opened. */
  readonly open?: ((name: string) => TabBroadcast) | undefined;
  /** The target of `pagehide` and `pageshow` events. */
  readonly page?: Pick<HostEventTarget, 'addEventListener' | 'removeEventListener'> | undefined;
}

/**
 * Minimum time between two messages, in milliseconds. A message costs this tab and the browser a tenth of the
 * time of an append. An agent that appends one event after another would pay it for each event. A single
 * notice is not delayed.
 */
const MIN_MESSAGE_INTERVAL = 50;

/** Receives the messages of the channel. */
export interface TabListener<Message> {
  deliver(messages: readonly Message[]): void;
  /** Called when messages may have been missed. */
  missed(): void;
}

/** The form of the messages of a channel. */
export interface TabCodec<Message> {
  /** Reduces messages that are sent together. Keeps everything that a receiver has to know. */
  readonly merge: (messages: readonly Message[]) => readonly Message[];
  /** Makes a value that can be cloned. */
  readonly encode: (messages: readonly Message[]) => unknown;
  /** Returns the valid messages; unknown ones are left out. */
  readonly decode: (data: unknown) => readonly Message[];
}

/**
 * Sends messages to the other tabs, and receives theirs, by a `BroadcastChannel` that is opened when first
 * needed.
 *
 * The browser may exclude a page with an open channel from its back/forward cache, and a page in that cache
 * receives nothing. So the channel is closed when the page enters the cache. It is opened when the page
 * returns, and the listener is told that it may have missed some. Messages that are sent in between use a temporary
 * channel. A worker has no such events.
 *
 * In Node no channel is opened, since it would keep the process alive. If a channel cannot be opened (some
 * browsers refuse it in a frame of another site), other tabs are not heard, and nothing fails.
 */
export class TabChannel<Message> {
  readonly name: string;
  readonly #codec: TabCodec<Message>;
  readonly #listener: TabListener<Message>;
  readonly #host: TabHost;
  #channel: TabBroadcast | undefined;
  #isListening = false;
  /** Whether no channel may stay open: no service uses it, or the page is in the back/forward cache. */
  #isSuspended = true;
  /**
   * Messages to send with the next message. They are reduced only when they are sent, so that an append does
   * not wait for it.
   */
  #outbox: Message[] = [];
  /** Earliest time of the next message, by the page's clock. */
  #nextSendTime = 0;

  constructor(
    name: string,
    codec: TabCodec<Message>,
    listener: TabListener<Message>,
    host: TabHost = currentHost(),
  ) {
    this.name = name;
    this.#codec = codec;
    this.#listener = listener;
    this.#host = host;
  }

  /** Begins to track whether the page is in the back/forward cache. Opens nothing. */
  start(): void {
    this.#isSuspended = false;
    this.#host.page?.addEventListener('pagehide', this.#onPageHide);
    this.#host.page?.addEventListener('pageshow', this.#onPageShow);
  }

  /** Sets whether incoming messages are wanted. */
  listen(isListening: boolean): void {
    this.#isListening = isListening;
    if (isListening && !this.#isSuspended) this.#openChannel();
    this.#updateMessageHandler();
  }

  send(messages: readonly Message[]): void {
    if (this.#host.open === undefined) return;
    // Send later, so that the caller that waits for the commit continues first.
    if (this.#outbox.length === 0) setTimeout(this.#flush, this.#nextSendTime - performance.now());
    this.#outbox.push(...messages);
  }

  /**
   * Sends the pending messages and closes the channel, until `start` is called again. Calls that the last service
   * left running may still send messages, by a temporary channel.
   */
  close(): void {
    this.#suspend();
    this.#host.page?.removeEventListener('pagehide', this.#onPageHide);
    this.#host.page?.removeEventListener('pageshow', this.#onPageShow);
  }

  readonly #flush = (): void => {
    if (this.#outbox.length === 0) return;
    const messages = this.#codec.merge(this.#outbox);
    this.#outbox = [];
    this.#nextSendTime = performance.now() + MIN_MESSAGE_INTERVAL;
    this.#openChannel();
    try {
      this.#channel?.postMessage(this.#codec.encode(messages));
    } catch {
      // Ignored: a message is best effort, and its change is committed.
    }
    if (this.#isSuspended) this.#closeChannel();
  };

  readonly #onPageHide = (event: Event): void => {
    if (isPersisted(event)) this.#suspend();
    else this.#flush();
  };

  readonly #onPageShow = (event: Event): void => {
    if (!isPersisted(event)) return;
    this.#isSuspended = false;
    this.listen(this.#isListening);
    this.#listener.missed();
  };

  #suspend(): void {
    this.#flush();
    this.#isSuspended = true;
    this.#closeChannel();
  }

  #openChannel(): void {
    try {
      this.#channel ??= this.#host.open?.(this.name);
    } catch {
      // Ignored: the host refuses channels, see the class.
    }
    this.#updateMessageHandler();
  }

  /** Sets the message handler only while messages are wanted, since the browser would decode each message. */
  #updateMessageHandler(): void {
    if (this.#channel === undefined) return;
    this.#channel.onmessage = this.#isListening
      ? (event: MessageEvent<unknown>) => {
          this.#listener.deliver(this.#codec.decode(event.data));
        }
      : null;
  }

  #closeChannel(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

function isPersisted(event: Event): boolean {
  return 'persisted' in event && event.persisted === true;
}

/** Returns whether this is Node, and not a page of Electron, which has `process` too. */
function isNode(): boolean {
  if (typeof process !== 'object') return false;
  const { versions, type } = process as Partial<NodeJS.Process> & { type?: unknown };
  return typeof versions?.node === 'string' && type !== 'renderer' && type !== 'worker';
}

function currentHost(): TabHost {
  const isSupported = typeof BroadcastChannel === 'function' && !isNode();
  return {
    open: isSupported ? (name) => new BroadcastChannel(name) : undefined,
    page: 'onpagehide' in globalThis ? globalThis : undefined,
  };
}
