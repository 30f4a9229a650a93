/** Takes the texts of a channel. A method in its type, so that a `BroadcastChannel` fits. */
interface ChannelListener {
  listen(message: { readonly data: unknown }): void;
}

/**
 * A channel between the processes that share a database: what one posts, all others get. A `BroadcastChannel` is one,
 * `postgresChannel` makes one, and `examples/redis_channel.ts` shows one for Redis.
 *
 * A channel may lose texts, and it may deliver a text to its sender too. The service finds lost texts by numbers, and then
 * tells its watchers to read again.
 */
export interface ProcessChannel {
  /** Sends a text to the other processes. May return a promise; what it rejects with goes to `onDiagnostic`. */
  postMessage(text: string): unknown;
  /** The service sets it. The channel calls it with each text, in `data`. */
  onmessage: ChannelListener['listen'] | null;
  /** Sends what was posted, and ends the channel. */
  close(): unknown;
  /**
   * The service sets it, if the channel has this member. The channel calls it when texts may have been lost: after each
   * connect. The watchers then get `resync`.
   */
  onmissed?: (() => void) | null;
  /** The service sets it, if the channel has this member. The channel calls it with what fails. */
  onfailure?: ((error: unknown) => void) | null;
}

/**
 * Opens the channel of a name: `adk_session_wasm_` and 32 hexadecimal digits. Nobody can guess it, so nobody else hears or
 * writes the texts where a channel has no rights of its own. Called by the first watch or write, and after a `close`.
 *
 * @example
 * ```ts
 * import { DatabaseSessionService, postgresChannel } from 'adk-session-wasm/database';
 *
 * const url = 'postgresql://localhost/chats';
 * const service = new DatabaseSessionService(url, { channel: postgresChannel(url) });
 * ```
 */
export type OpenChannel = (name: string) => ProcessChannel;

/** A channel, and what goes over it. */
export interface ChannelOptions {
  /** Opens the channel. */
  open: OpenChannel;
  /**
   * Whether the drafts of agents go over it, of users who have a feed at another process, and as readers without
   * credentials see them. Default `true`.
   */
  drafts?: boolean | undefined;
}

/** The channel of a service over a storage of your own. */
export interface OwnChannel extends ChannelOptions {
  /**
   * 32 hexadecimal digits that only the processes over this storage have, as `openssl rand -hex 16` prints them. They are
   * a part of the channel's name.
   */
  secret: string;
}
