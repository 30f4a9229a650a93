/** The messages between the tabs of a cache. */
import { reportUncaught } from '../../../core/call/diagnostics.js';
import type { TabChannel, TabKind, TabPort } from '../../../core/watch/tab_channel.js';
import { isObject } from '../../../values/json/rules.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { CacheFailure, StatusMessage } from '../records/status.js';

/** The messages between the tabs that share a cache, with their contents. */
export interface TabContents {
  /** The local data of a client was forgotten; `''` if there was none. */
  readonly forget: readonly [client: string];
  /**
   * A tab has opened the cache, has lost its data, or may have missed messages. It asks for the status and what others
   * read.
   */
  readonly opened: readonly [];
  /** The status has changed. */
  readonly status: readonly [StatusMessage];
  /** A call waits for what the leading tab sends. */
  readonly wake: readonly [];
  /** The leading tab could not send. */
  readonly failed: readonly [CacheFailure];
  /** The leading tab is closed. */
  readonly closed: readonly [];
  /** The mutations of a session or state have changed; see `nameOf`. */
  readonly changed: readonly [name: string];
  /** A tab reads the sessions of a user. The leading tab follows them. */
  readonly reads: readonly [name: string];
  /** The local data was lost, or its loss is acknowledged. */
  readonly lost: readonly [];
}

/** A message: its kind, and its contents. */
export type TabMessage = {
  readonly [Kind in keyof TabContents]: readonly [kind: Kind, ...content: TabContents[Kind]];
}[keyof TabContents];

const isNothing = (content: readonly unknown[]): boolean => content.length === 0;
const isText = ([text]: readonly unknown[]): boolean => typeof text === 'string';

/** Checks the content of a message of each kind. */
const IS_CONTENT: Readonly<Record<keyof TabContents, (content: readonly unknown[]) => boolean>> = {
  forget: isText,
  opened: isNothing,
  status: ([message]) => isStatus(message),
  wake: isNothing,
  failed: ([failure]) => isFailure(failure),
  closed: isNothing,
  changed: isText,
  reads: isText,
  lost: isNothing,
};

export const TAB_MESSAGES: TabKind<TabMessage> = {
  name: 'cache',

  decode(value) {
    if (!Array.isArray(value)) return undefined;
    const [kind, ...content] = value as unknown[];
    const isMessage = typeof kind === 'string' && isKind(kind) && IS_CONTENT[kind](content);
    return isMessage ? (value as unknown as TabMessage) : undefined;
  },

  /** Keeps the last of equal messages, and the last status of each tab of this realm. */
  merge(messages) {
    const merged = new Map<string, TabMessage>();
    for (const message of messages) {
      const name = JSON.stringify(message[0] === 'status' ? message[1][0][1] : message);
      merged.delete(name);
      merged.set(name, message);
    }
    return [...merged.values()];
  },
};

function isKind(kind: string): kind is keyof TabContents {
  return Object.hasOwn(IS_CONTENT, kind);
}

function isStatus(message: unknown): boolean {
  if (!Array.isArray(message)) return false;
  const [version, status] = message as unknown[];
  if (!Array.isArray(version) || !isObject(status)) return false;
  const { isOnline, isSignedOut, isSending, lastSuccess = 0, lastError } = status;
  return (
    typeof version[0] === 'number' &&
    typeof version[1] === 'string' &&
    [isOnline, isSignedOut, isSending].every((value) => typeof value === 'boolean') &&
    typeof lastSuccess === 'number' &&
    (lastError === undefined || isFailure(lastError))
  );
}

function isFailure(failure: unknown): boolean {
  return (
    isObject(failure) && typeof failure.code === 'string' && typeof failure.message === 'string'
  );
}

/** Called with the messages of other tabs. */
export type TabListeners = {
  readonly [Kind in keyof TabContents]: (...content: TabContents[Kind]) => void;
} & {
  /** Called when messages may have been missed. */
  readonly missed: () => void;
};

/** The tabs with the same cache, as one of them sees them. They tell each other what changes. A message may be lost. */
export class Tabs {
  /** The name of this tab. */
  readonly own = newEventId();
  readonly #port: TabPort<TabMessage>;
  #listeners: TabListeners | undefined;

  constructor(channel: TabChannel) {
    this.#port = channel.port(TAB_MESSAGES, {
      deliver: (messages) => {
        for (const message of messages) this.receive(message);
      },
      missed: () => this.#listeners?.missed(),
    });
  }

  post(...message: TabMessage): void {
    this.#port.send([message]);
  }

  /** Receives the messages of the other tabs, until the returned function is called. */
  listen(listeners: TabListeners): () => void {
    this.#listeners = listeners;
    this.#port.start();
    this.#port.listen(true);
    return () => this.#port.close();
  }

  receive([kind, ...content]: TabMessage): void {
    const listener = this.#listeners?.[kind] as
      ((...content: readonly unknown[]) => void) | undefined;
    try {
      listener?.(...content);
    } catch (error) {
      reportUncaught(error);
    }
  }
}
