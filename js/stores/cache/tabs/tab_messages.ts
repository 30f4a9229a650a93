/**
 * Encodes and decodes the messages between the tabs of a cache. Another version of the package, or other code of the same
 * origin, may use the channel. So unknown messages are ignored.
 */
import { isObject } from '../../../values/json/rules.js';
import type { TabCodec } from '../../../core/watch/tab_channel.js';
import type { CacheFailure, StatusMessage } from '../records/status.js';

/** The messages between the tabs that share a cache, with their contents. */
export interface TabContents {
  /** The local data of a client was erased; `''` if there was none. */
  readonly forget: readonly [client: string];
  /** A tab has opened the cache, has lost its data, or may have missed messages. It asks for the status and what others read. */
  readonly opened: readonly [];
  /** The status has changed. */
  readonly status: readonly [StatusMessage];
  /** A call waits for what the leading tab sends. */
  readonly wake: readonly [];
  /** The leading tab could not send. */
  readonly failed: readonly [CacheFailure];
  /** The leading tab is closed. */
  readonly closed: readonly [];
  /** The operations of a session or state have changed; see `nameOf`. */
  readonly changed: readonly [name: string];
  /** A tab reads the sessions of a user. The leading tab follows them. */
  readonly reads: readonly [name: string];
  /** The local data was lost, or its loss is acknowledged. */
  readonly lost: readonly [];
}

export interface TabMessage {
  readonly kind: keyof TabContents;
  /** The tab that sends it. */
  readonly tab: string;
  readonly content: readonly unknown[];
}

/** The format's version. It changes when a message changes its meaning; new kinds need no new version. */
const FORMAT_VERSION = 1;

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

export const TAB_MESSAGES: TabCodec<TabMessage> = {
  encode: (messages) => ({
    format: FORMAT_VERSION,
    messages: messages.map(({ kind, tab, content }) => [kind, tab, ...content]),
  }),

  decode(data) {
    if (!isObject(data) || data.format !== FORMAT_VERSION || !Array.isArray(data.messages)) {
      return [];
    }
    return data.messages.flatMap((message: unknown) => decodeMessage(message) ?? []);
  },

  /** Keeps the last of equal messages, and the last status of each tab. */
  merge(messages) {
    const merged = new Map<string, TabMessage>();
    for (const message of messages) {
      const { kind, tab, content } = message;
      const name = JSON.stringify([kind, tab, kind === 'status' ? [] : content]);
      merged.delete(name);
      merged.set(name, message);
    }
    return [...merged.values()];
  },
};

function decodeMessage(message: unknown): TabMessage | undefined {
  if (!Array.isArray(message)) return undefined;
  const [kind, tab, ...content] = message as unknown[];
  if (typeof kind !== 'string' || typeof tab !== 'string') return undefined;
  if (!isKind(kind) || !IS_CONTENT[kind](content)) return undefined;
  return { kind, tab, content: structuredClone(content) };
}

function isKind(kind: string): kind is keyof TabContents {
  return Object.hasOwn(IS_CONTENT, kind);
}

function isStatus(message: unknown): boolean {
  if (!Array.isArray(message)) return false;
  const [stamp, status] = message as unknown[];
  if (!Array.isArray(stamp) || !isObject(status)) return false;
  const { isOnline, isSignedOut, isSending, lastSuccess = 0, lastError } = status;
  return (
    typeof stamp[0] === 'number' &&
    typeof stamp[1] === 'string' &&
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
