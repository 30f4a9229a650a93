import { readMessage, writeMessage } from './message.js';
import type { PublishedNotice } from './notice.js';
import { PendingNotices } from './pending_notices.js';

/** What is used of a `BroadcastChannel`. */
export type Broadcast = Pick<BroadcastChannel, 'postMessage' | 'close' | 'onmessage'>;

/** What the channel needs of its host; a test brings its own. */
export interface TabHost {
  /** Opens the channel of that name. Absent where there is none, or none shall be opened. */
  readonly open?: ((name: string) => Broadcast) | undefined;
  /** What `pagehide` and `pageshow` happen to. */
  readonly page?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> | undefined;
}

/**
 * Milliseconds between two messages at the least. A message costs this tab and the browser as much as a
 * tenth of an append: an agent that appends one event after the other would pay it for each of them.
 * Nobody sees the difference: what comes alone goes out at once.
 */
const PAUSE = 50;

/** What the channel tells its feed. */
export interface TabListener {
  hear(notices: readonly PublishedNotice[]): void;
  resync(): void;
}

/**
 * The way to the other tabs: a `BroadcastChannel`, opened when it is first needed.
 *
 * A page with an open channel may be refused by the browser's back/forward cache, and in the cache it
 * hears nothing. So the channel is closed when the page goes there, and opened when it comes back, with a
 * `resync` for what went unheard. What is committed in between goes out over a channel of its own, closed
 * at once. A worker lives and dies without such events.
 *
 * None is opened in Node, where it would keep the process alive. Where one cannot be opened (some browsers
 * refuse it in a frame of another site), nothing is heard of other tabs, and nothing fails.
 */
export class TabChannel {
  readonly #name: string;
  readonly #listener: TabListener;
  readonly #host: TabHost;
  #channel: Broadcast | undefined;
  #isListening = false;
  #isAway = false;
  /** What goes out with the next message: a burst is one. As it came: an append waits for no more. */
  #outbox: PublishedNotice[] = [];
  /** When the next message may go out, by the page's clock. */
  #next = 0;

  constructor(name: string, listener: TabListener, host: TabHost = thisHost()) {
    this.#name = name;
    this.#listener = listener;
    this.#host = host;
  }

  /** Knows from now on whether the page is there; opens nothing. */
  start(): void {
    this.#host.page?.addEventListener('pagehide', this.#leave);
    this.#host.page?.addEventListener('pageshow', this.#return);
  }

  /** Whether what comes in is wanted. */
  listen(isListening: boolean): void {
    this.#isListening = isListening;
    if (isListening && !this.#isAway) this.#open();
    this.#hear();
  }

  send(notices: readonly PublishedNotice[]): void {
    if (this.#host.open === undefined) return;
    // Not before whoever waits for the commit has gone on.
    if (this.#outbox.length === 0) setTimeout(this.#flush, this.#next - performance.now());
    this.#outbox.push(...notices);
  }

  /** Until it is started again. */
  close(): void {
    this.#flush();
    this.#shut();
    this.#host.page?.removeEventListener('pagehide', this.#leave);
    this.#host.page?.removeEventListener('pageshow', this.#return);
  }

  readonly #flush = (): void => {
    if (this.#outbox.length === 0) return;
    const notices = newestOf(this.#outbox);
    this.#outbox = [];
    this.#next = performance.now() + PAUSE;
    this.#open();
    try {
      this.#channel?.postMessage(writeMessage(notices));
    } catch {
      // A notice is best effort; what it tells of is committed.
    }
    if (this.#isAway) this.#shut();
  };

  readonly #leave = (event: Event): void => {
    this.#isAway = isPersisted(event);
    this.#flush();
    if (this.#isAway) this.#shut();
  };

  readonly #return = (event: Event): void => {
    if (!isPersisted(event)) return;
    this.#isAway = false;
    this.listen(this.#isListening);
    this.#listener.resync();
  };

  #open(): void {
    try {
      this.#channel ??= this.#host.open?.(this.#name);
    } catch {
      // Refused here: see the class.
    }
    this.#hear();
  }

  /** Listens only while somebody wants it: what comes in would have to be read. */
  #hear(): void {
    if (this.#channel === undefined) return;
    this.#channel.onmessage = this.#isListening
      ? (event: MessageEvent<unknown>) => {
          this.#listener.hear(readMessage(event.data));
        }
      : null;
  }

  #shut(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

/** One notice a session and one a state. */
function newestOf(notices: readonly PublishedNotice[]): PublishedNotice[] {
  const pending = new PendingNotices();
  for (const notice of notices) pending.push(notice);
  const newest: PublishedNotice[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    if (next.type !== 'resync') newest.push(next);
  }
  return newest;
}

function isPersisted(event: Event): boolean {
  return 'persisted' in event && event.persisted === true;
}

/** Node, and not a page of Electron, which has its `process` as well. */
function isNode(): boolean {
  if (typeof process !== 'object') return false;
  const { versions, type } = process as Partial<NodeJS.Process> & { type?: unknown };
  return typeof versions?.node === 'string' && type !== 'renderer' && type !== 'worker';
}

function thisHost(): TabHost {
  const isThere = typeof BroadcastChannel === 'function' && !isNode();
  return {
    open: isThere ? (name) => new BroadcastChannel(name) : undefined,
    page: 'onpagehide' in globalThis ? globalThis : undefined,
  };
}
