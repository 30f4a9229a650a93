/**
 * Messages between the tabs, or the server processes, that share a database: one channel for each database, with messages
 * of several kinds.
 */
import { isObject } from '../../values/json/rules.js';
import type { HostBroadcastChannel, HostEventTarget } from '../../values/model/host.js';

/** What hears messages. As a method, so that a `BroadcastChannel` fits, whose `MessageEvent` programs without the DOM lack. */
type HearMessage = { hear(message: { readonly data: unknown }): void }['hear'];

/** The part of a `BroadcastChannel` that is used here. */
export interface TabBroadcast extends Pick<HostBroadcastChannel, 'postMessage' | 'close'> {
  onmessage: HearMessage | null;
  /** Called when messages may have been missed. Absent: none are. */
  onmissed?: (() => void) | null;
}

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

/**
 * The format's version. It changes when a message changes its meaning; new kinds, types and fields need no new version.
 */
const FORMAT_VERSION = 1;

/** A kind of messages. Its messages are values that can be cloned. */
export interface TabKind<Message> {
  /** The member of what is sent that has the messages of this kind. */
  readonly name: 'notices' | 'states' | 'runs' | 'processRuns' | 'cache';
  /** Reduces messages that are sent together. Keeps everything that a receiver has to know. */
  merge(messages: readonly Message[]): readonly Message[];
  /**
   * Checks one message. Another version of the package, or other code of the same origin, may use the channel.
   *
   * @returns `undefined` for a message that is not known; it is ignored
   */
  decode(value: unknown): Message | undefined;
}

/** Receives the messages of one kind. */
export interface TabListener<Message> {
  /** Whether it wants a message. It is asked before the message is copied for it. Absent: it wants all. */
  wants?(message: Message): boolean;
  deliver(messages: readonly Message[]): void;
  /** Called when messages may have been missed. */
  missed(): void;
}

/** Sends and receives the messages of one kind, for one user of a channel. */
export class TabPort<Message> {
  readonly kind: TabKind<Message>;
  readonly listener: TabListener<Message>;
  readonly #channel: TabChannel;
  #isListening = false;

  constructor(channel: TabChannel, kind: TabKind<Message>, listener: TabListener<Message>) {
    this.#channel = channel;
    this.kind = kind;
    this.listener = listener;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  /** Begins to use the channel. The channel is opened when it is first needed. */
  start(): void {
    this.#channel.add(this);
  }

  /** Sets whether incoming messages are wanted. */
  listen(isListening: boolean): void {
    this.#isListening = isListening;
    this.#channel.update();
  }

  /** Sends messages to the other tabs, and to the other ports of this realm, a little later. */
  send(messages: readonly Message[]): void {
    this.#channel.send(this, messages);
  }

  /** Sends the pending messages, and ends the use until `start` is called again. */
  close(): void {
    this.#channel.delete(this);
  }
}

/**
 * Connects the tabs that share a database, by a `BroadcastChannel` that is opened when first needed. A realm has one
 * channel for each database, because a `BroadcastChannel` delivers nothing to the object that sent it.
 *
 * The browser may exclude a page with an open channel from its back/forward cache, and a page in that cache
 * receives nothing. So the channel is closed when the page enters the cache. It is opened when the page
 * returns, and the listeners are told that they may have missed some messages. Messages that are sent in between use a
 * temporary channel. A worker has no such events.
 *
 * In Node no channel is opened, since it would keep the process alive. If a channel cannot be opened (some
 * browsers refuse it in a frame of another site), other tabs are not heard, and nothing fails.
 */
export class TabChannel {
  /** Absent: no other tab shares the storage, and only this realm is connected. */
  readonly name: string | undefined;
  readonly #host: TabHost;
  readonly #ports = new Set<TabPort<unknown>>();
  #channel: TabBroadcast | undefined;
  /** Whether the page is in the back/forward cache. */
  #isAway = false;
  /**
   * Messages to send with the next message. They are reduced only when they are sent, so that an append does
   * not wait for it.
   */
  readonly #outbox = new Map<TabKind<unknown>, unknown[]>();
  /** Earliest time of the next message, by the page's clock. */
  #nextSendTime = 0;

  constructor(name?: string, host: TabHost = currentHost()) {
    this.name = name;
    this.#host = host;
  }

  /** Returns the port of one more user. It opens nothing. */
  port<Message>(kind: TabKind<Message>, listener: TabListener<Message>): TabPort<Message> {
    return new TabPort(this, kind, listener);
  }

  /** Counts a user. With the first one it begins to track whether the page is in the back/forward cache. */
  add(port: TabPort<unknown>): void {
    if (this.#ports.size === 0) {
      this.#isAway = false;
      this.#host.page?.addEventListener('pagehide', this.#onPageHide);
      this.#host.page?.addEventListener('pageshow', this.#onPageShow);
    }
    this.#ports.add(port);
    this.update();
  }

  /** The last user closes the channel. Calls that it left running may still send messages, by a temporary channel. */
  delete(port: TabPort<unknown>): void {
    this.flush();
    this.#ports.delete(port);
    if (this.#ports.size === 0) {
      this.#host.page?.removeEventListener('pagehide', this.#onPageHide);
      this.#host.page?.removeEventListener('pageshow', this.#onPageShow);
    }
    this.update();
  }

  send(sender: TabPort<unknown>, messages: readonly unknown[]): void {
    const { kind } = sender;
    queueMicrotask(() => {
      const others = this.#listening().filter((port) => port !== sender && port.kind === kind);
      for (const { listener } of others) deliver(listener, messages, cloneOf);
    });
    if (this.name === undefined || this.#host.open === undefined) return;
    // Send later, so that the caller that waits for the commit continues first.
    if (this.#outbox.size === 0) setTimeout(this.flush, this.#nextSendTime - performance.now());
    const waiting = this.#outbox.get(kind);
    if (waiting === undefined) this.#outbox.set(kind, [...messages]);
    else waiting.push(...messages);
  }

  /** Sends what waits for the next message. */
  readonly flush = (): void => {
    if (this.#outbox.size === 0) return;
    const kinds = [...this.#outbox].map(
      ([kind, messages]) => [kind.name, kind.merge(messages)] as const,
    );
    this.#outbox.clear();
    this.#nextSendTime = performance.now() + MIN_MESSAGE_INTERVAL;
    this.#openChannel();
    // A kind that cannot be cloned, such as the drafts of some agents, must not keep back the others.
    if (!this.#post(kinds)) for (const kind of kinds) this.#post([kind]);
    this.update();
  };

  /** Returns whether it succeeds. A failure is ignored: a message is best effort, and its change is committed. */
  #post(kinds: readonly (readonly [name: string, messages: readonly unknown[]])[]): boolean {
    try {
      this.#channel?.postMessage({ format: FORMAT_VERSION, ...Object.fromEntries(kinds) });
      return true;
    } catch {
      return false;
    }
  }

  #receive(data: unknown): void {
    if (!isObject(data) || data.format !== FORMAT_VERSION) return;
    const ports = this.#listening();
    for (const kind of new Set(ports.map((port) => port.kind))) {
      const values: unknown = data[kind.name];
      if (!Array.isArray(values)) continue;
      const decoded = values.map((value) => kind.decode(value));
      const messages = decoded.filter((message) => message !== undefined);
      for (const port of ports) if (port.kind === kind) deliver(port.listener, messages);
    }
  }

  readonly #onPageHide = (event: Event): void => {
    this.flush();
    if (!isPersisted(event)) return;
    this.#isAway = true;
    this.update();
  };

  readonly #onPageShow = (event: Event): void => {
    if (!isPersisted(event)) return;
    this.#isAway = false;
    this.update();
    this.#missed();
  };

  #missed(): void {
    for (const { listener } of this.#listening()) listener.missed();
  }

  #listening(): readonly TabPort<unknown>[] {
    return [...this.#ports].filter((port) => port.isListening);
  }

  /** Opens or closes the channel for the present users. */
  update(): void {
    const isListening = this.#listening().length > 0;
    if (this.#isAway || this.#ports.size === 0) {
      this.#channel?.close();
      this.#channel = undefined;
    } else if (isListening) this.#openChannel();
    if (this.#channel === undefined) return;
    // Without a handler the browser need not decode the messages.
    this.#channel.onmessage = isListening ? ({ data }) => this.#receive(data) : null;
  }

  #openChannel(): void {
    if (this.name === undefined) return;
    if (this.#channel !== undefined) return;
    try {
      this.#channel = this.#host.open?.(this.name);
      if (this.#channel !== undefined && 'onmissed' in this.#channel) {
        this.#channel.onmissed = () => this.#missed();
      }
    } catch {
      // Ignored: the host refuses channels, see the class.
    }
  }
}

const channels = new Map<string, TabChannel>();

/**
 * Returns the channel of this realm with that name.
 *
 * @param host replaced in tests
 */
export function tabChannelOf(name: string, host?: TabHost): TabChannel {
  const channel = channels.get(name) ?? new TabChannel(name, host);
  channels.set(name, channel);
  return channel;
}

function deliver(
  listener: TabListener<unknown>,
  messages: readonly unknown[],
  copy = (wanted: readonly unknown[]) => wanted,
): void {
  const wanted = messages.filter((message) => listener.wants?.(message) !== false);
  if (wanted.length > 0) listener.deliver(copy(wanted));
}

function cloneOf(messages: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(messages);
  } catch {
    // Ignored, as where they are sent to other tabs: an agent's drafts may hold what cannot be cloned.
    return [];
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
