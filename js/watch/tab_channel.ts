import type { HostBroadcastChannel, HostEventTarget } from '../model/host.js';
import { decodeMessage, encodeMessage } from './tab_message.js';
import type { Notice } from '../model/notice.js';
import { PendingNotices } from './pending_notices.js';

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

/** Receives the notices of the channel. */
export interface TabListener {
  deliver(notices: readonly Notice[]): void;
}

/**
 * Sends notices to the other tabs, and receives theirs, by a `BroadcastChannel` that is opened when first
 * needed.
 *
 * The browser may exclude a page with an open channel from its back/forward cache, and a page in that cache
 * receives nothing. So the channel is closed when the page enters the cache. It is opened when the page
 * returns, with a `resync` for the changes that were missed. Notices that are sent in between use a temporary
 * channel. A worker has no such events.
 *
 * In Node no channel is opened, since it would keep the process alive. If a channel cannot be opened (some
 * browsers refuse it in a frame of another site), other tabs are not heard, and nothing fails.
 */
export class TabChannel {
  readonly #name: string;
  readonly #listener: TabListener;
  readonly #host: TabHost;
  #channel: TabBroadcast | undefined;
  #isListening = false;
  /** Whether no channel may stay open: no service uses it, or the page is in the back/forward cache. */
  #isSuspended = true;
  /**
   * Notices to send with the next message. They are reduced only when they are sent, so that an append does
   * not wait for it.
   */
  #outbox: Notice[] = [];
  /** Earliest time of the next message, by the page's clock. */
  #nextSendTime = 0;

  constructor(name: string, listener: TabListener, host: TabHost = currentHost()) {
    this.#name = name;
    this.#listener = listener;
    this.#host = host;
  }

  /** Begins to track whether the page is in the back/forward cache. Opens nothing. */
  start(): void {
    this.#isSuspended = false;
    this.#host.page?.addEventListener('pagehide', this.#onPageHide);
    this.#host.page?.addEventListener('pageshow', this.#onPageShow);
  }

  /** Sets whether incoming notices are wanted. */
  listen(isListening: boolean): void {
    this.#isListening = isListening;
    if (isListening && !this.#isSuspended) this.#openChannel();
    this.#updateMessageHandler();
  }

  send(notices: readonly Notice[]): void {
    if (this.#host.open === undefined) return;
    // Send later, so that the caller that waits for the commit continues first.
    if (this.#outbox.length === 0) setTimeout(this.#flush, this.#nextSendTime - performance.now());
    this.#outbox.push(...notices);
  }

  /**
   * Sends the pending notices and closes the channel, until `start` is called again. Calls that the last service
   * left running may still send notices, by a temporary channel.
   */
  close(): void {
    this.#suspend();
    this.#host.page?.removeEventListener('pagehide', this.#onPageHide);
    this.#host.page?.removeEventListener('pageshow', this.#onPageShow);
  }

  readonly #flush = (): void => {
    if (this.#outbox.length === 0) return;
    const notices = newestNotices(this.#outbox);
    this.#outbox = [];
    this.#nextSendTime = performance.now() + MIN_MESSAGE_INTERVAL;
    this.#openChannel();
    try {
      this.#channel?.postMessage(encodeMessage(notices));
    } catch {
      // Ignored: a notice is best effort, and its change is committed.
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
    this.#listener.deliver([{ type: 'resync' }]);
  };

  #suspend(): void {
    this.#flush();
    this.#isSuspended = true;
    this.#closeChannel();
  }

  #openChannel(): void {
    try {
      this.#channel ??= this.#host.open?.(this.#name);
    } catch {
      // Ignored: the host refuses channels, see the class.
    }
    this.#updateMessageHandler();
  }

  /** Sets the message handler only while notices are wanted, since the browser would decode each message. */
  #updateMessageHandler(): void {
    if (this.#channel === undefined) return;
    this.#channel.onmessage = this.#isListening
      ? (event: MessageEvent<unknown>) => {
          this.#listener.deliver(decodeMessage(event.data));
        }
      : null;
  }

  #closeChannel(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

/** Returns the newest notice of each session and each state. */
function newestNotices(notices: readonly Notice[]): Notice[] {
  const pending = new PendingNotices();
  for (const notice of notices) pending.push(notice);
  const newest: Notice[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) newest.push(next);
  return newest;
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
