import type { Diagnostic } from '../values/model/diagnostic.js';
import type { Core, Epochs, ServerAgent } from '../core/core_of.js';
import type { ReportFailure, Store, StoreTraits } from '../core/storage/store.js';
import type { CloseOptions, StorageInfo } from '../values/model/storage_info.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { StateSchemaOf } from '../values/state/state_schema.js';
import { takeOptions } from '../core/call/call.js';
import { requireMilliseconds } from '../values/errors/option_values.js';
import type { RulesPlace } from '../core/wasm/loader/source.js';
import type { StalePolicy } from '../core/wasm/protocol.js';
import type { Feed } from '../core/watch/feed.js';
import type { ArtifactsOption } from './artifacts/homes.js';
import type { DefaultArtifacts } from './artifacts/service_artifacts.js';

/** The options of every service of this package. */
export interface SessionServiceOptions<S extends object = StateShape> {
  /**
   * The policy of an append through a stale handle, when others have appended since the handle was
   * read. `'merge'` (default): the event is stored, and the handle first gets the events that it
   * had missed. `'append'`: the event is stored, and the handle gets only this event. `'reject'`:
   * fails with `stale_session`, and nothing changes.
   */
  stale?: StalePolicy | undefined;
  /**
   * Validates the keys and values of initial states and deltas before anything is written. The
   * service's state type is inferred from it.
   */
  stateSchema?: StateSchemaOf<S> | undefined;
  /**
   * Gives a session without a title the beginning of its first user message as title: at most 60 characters, cut at a
   * word. The append or creation that stores the message stores the title too. Messages that were stored without this
   * option do not count: a chat that Python began gets its title from its next user message. A title that was removed
   * is set again by the next user message through another handle. Handles show it when they are read again. Default
   * `false`.
   */
  autoTitle?: boolean | undefined;
  /** Returns the time in milliseconds since 1970; default `Date.now`. */
  clock?: (() => number) | undefined;
  /** Returns a fresh id for a session or event; default a UUID v4. */
  newId?: (() => string) | undefined;
  /**
   * Called once for each call of the service, when it settles, and for each lost connection of a pool: for
   * logs, metrics and traces. Default: none, and nothing is measured. If it throws, the host reports the error as
   * uncaught, and the call is not affected.
   */
  onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /**
   * Where `service.artifacts` keeps files. `true`: beside the sessions, which only memory, IndexedDB and databases can.
   * `{ folder }`: in a folder, as google-adk's `FileArtifactService` does, which may use it at the same time. Or a
   * service of your own or of `@google/adk`. Default `false`: `service.artifacts` throws. Over HTTP and in a cache the
   * default is `true`: files are on the server.
   */
  artifacts?: ArtifactsOption | false | undefined;
}

/** Returns the `timeoutMs` of a `close`. Fails with `invalid_argument` for anything but milliseconds. */
export function closeTimeoutOf(options: CloseOptions): number | undefined {
  const timeoutMs: unknown = takeOptions(options).timeoutMs;
  return timeoutMs === undefined ? undefined : requireMilliseconds('timeoutMs', timeoutMs, 0);
}

/** What a store gets from its service. */
export interface StoreContext {
  readonly clock: () => number;
  /** Absent: nobody listens to diagnostics. */
  readonly report: ReportFailure | undefined;
}

/** The parts of a service besides its options. */
export interface ServiceParts extends DefaultArtifacts {
  readonly storage: StorageInfo;
  /** The traits of the store that are known before it is loaded. */
  readonly traits?: StoreTraits | undefined;
  /**
   * Begins to load what the store needs, and returns `undefined` once it is loaded. Calls wait for the promise. If it
   * fails, they fail, and the next call loads again.
   */
  readonly load?: (() => Promise<void> | undefined) | undefined;
  /** Present if the service needs only the rules of the wasm; see `loadWasm`. */
  readonly rules?: RulesPlace | undefined;
  /** Whether sessions can expire. Otherwise `ttl` and `expireTime` fail with `unsupported`. */
  readonly expires?: boolean | undefined;
  /** Makes the store that the service works on. */
  readonly openStore: (context: StoreContext) => Store;
  /** Called when a call of the program begins. Returns the call's `store`. */
  readonly beginCall?: (() => object) | undefined;
  /** Present for a cache. */
  readonly epochs?: Epochs | undefined;
  /** Present if the sessions are on a server, which may have an agent. */
  readonly serverAgent?: ServerAgent | undefined;
  /** Of a cache: returns the ids of the sessions of a user with changes that the remote has not confirmed. */
  readonly unsentSessions?: Core['unsentSessions'];
  /** Present for a cache. */
  readonly refusedOfSessions?: Core['refusedOfSessions'];
  /** Present for a cache. */
  readonly untilSent?: Core['untilSent'];
  /** Where the words of searches are, if they are in a database of IndexedDB beside that of the sessions. */
  readonly words?: {
    readonly name: string;
    /** Erases those of a session, or of a user. */
    readonly erase: (
      key: readonly [appName: string, userId: string, sessionId: string | undefined],
    ) => Promise<unknown>;
  };
  /** Called when the service begins to close and waits for its calls. */
  readonly closing?: ((timeoutMs: number | undefined) => void) | undefined;
  /** Called once the service's calls have settled. */
  readonly closeStorage?: () => void | Promise<void>;
  /**
   * The feed that services over the same storage share, or a function that makes or finds it. Absent: a feed of the
   * service's own.
   */
  readonly feed?: Feed | ((report: ReportFailure | undefined) => Feed) | undefined;
  /** See `Core`. Absent: the feed. */
  readonly sharedStorage?: object | undefined;
  /** See `Core`. */
  readonly hasOtherProcesses?: boolean | undefined;
}
