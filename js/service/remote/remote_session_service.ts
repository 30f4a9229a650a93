import { rules } from '#rules';
import { requireWhole } from '../../values/errors/option_values.js';
import { SessionError } from '../../values/errors/errors.js';
import { requireKey } from '../../values/model/values/ids.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import { invalid } from '../../values/errors/invalid.js';
import { Diagnostics } from '../../core/call/diagnostics.js';
import { takeOptions } from '../../core/call/call.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { raceSignal, untilAborted } from '../../core/call/time_limit.js';
import { closeLimit, startClosing } from '../../stores/http/call_limit.js';
import { MAX_RETRIES } from '../../stores/http/retries.js';
import { isPlainObject } from '../../values/json/rules.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal, HostFetch } from '../../values/model/host.js';
import { coreOf, type FollowedKey } from '../../core/core_of.js';
import type { FiledCore } from '../artifacts/artifacts.js';
import { ServiceCore } from '../service_core.js';
import type { SessionServiceOptions } from '../service_options.js';
import { StoredSessionService } from '../stored_session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { HttpConnection, pathOf } from '../../stores/remote/connection/connection.js';
import { pathTo } from '../../stores/remote/write_request.js';
import { RemoteFeed } from '../../stores/remote/remote_feed.js';
import { RemoteServer } from '../../stores/remote/remote_server.js';
import type { ReportListener } from '../../core/run_report.js';
import { SERVER } from '../../stores/remote/connection/response_error.js';
import { type RunRequest, takeRun } from '../../stores/remote/run_request.js';

/** Options of a {@link RemoteSessionService}: the server, the credentials, and the options of every service. */
export interface RemoteSessionOptions<
  S extends object = StateShape,
> extends SessionServiceOptions<S> {
  /** URL of the server, with the handler's `basePath`. In a page it may be a path. */
  url: string;
  /** Headers of each request, for example credentials. Their values are shown in no error. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Returns the token for the header `authorization: Bearer …`. It is called before each request, and once more
   * if the server answers with status 401.
   */
  getAccessToken?: (() => string | Promise<string>) | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: HostFetch | undefined;
  /** Timeout in whole milliseconds of a call with all of its repetitions. Default 60 000. */
  timeoutMs?: number | undefined;
  /** The most repetitions of a request that failed and can be repeated without harm. Default 5. */
  retries?: number | undefined;
}

const TIMEOUT_MS = 60_000;

/** The request to cancel a run. */
export interface CancelRunRequest extends CompositeSessionKey, Abortable {
  /** The message whose run is to be cancelled. Absent: the run that is under way. */
  readonly messageId?: string | undefined;
}

/**
 * Keeps sessions on a server: on one with the handler of `adk-session-wasm/server`, or on `adk api_server` of
 * google-adk for Python. The first call asks the server which of the two it is.
 *
 * Over the handler it does what the service behind the handler does. Over `adk api_server` it reads, lists,
 * creates and deletes sessions and changes their state; that server has no route to append events.
 *
 * Requests that can be repeated without harm are repeated. An append whose response is lost is one of them: it is
 * stored once.
 *
 * @example
 * ```ts
 * import { RemoteSessionService } from 'adk-session-wasm/remote';
 *
 * const service = new RemoteSessionService({ url: 'https://chat.example/api/sessions' });
 * await service.close();
 * ```
 */
export class RemoteSessionService<S extends object = StateShape> extends StoredSessionService<S> {
  readonly #server: RemoteServer;
  readonly #feed: RemoteFeed;

  /** @throws SessionError `invalid_argument` if an option is invalid; the message shows no credentials */
  constructor(options: RemoteSessionOptions<S>) {
    const taken = takeOptions(options);
    const connection = new HttpConnection(takeConnectionOptions(taken));
    const { closeLimit } = connection.options;
    const storage = { kind: 'remote', durable: true };
    const diagnostics = Diagnostics.of(taken, storage);
    const onError = (error: unknown): void => diagnostics?.tell('connection', error);
    const feed: RemoteFeed = new RemoteFeed(connection, onError, () => server.asking());
    const server = new RemoteServer(connection, feed.runs);
    const parts = {
      storage,
      rules,
      load: () => server.load(),
      openStore: () => server.store,
      closing: (timeoutMs: number | undefined) => startClosing(closeLimit, timeoutMs),
      closeStorage: () => closeLimit.expire(),
      feed,
      loadArtifacts: async ({ newId }: FiledCore) => {
        const { RemoteArtifacts } = await loadChunk(() => import('./remote_artifacts.js'));
        await server.load();
        return new RemoteArtifacts({ connection, pathTo, pathOf, newId });
      },
      serverAgent: {
        get isThere() {
          return server.runsAgents;
        },
        get maxBodyBytes() {
          return server.maxBodyBytes;
        },
        get isApiServer() {
          return connection.kind && !connection.kind.isHandler;
        },
        channelName: `adk-session-wasm:remote:${connection.options.url}`,
        find: async () => {
          await server.load();
          return server.runsAgents === true;
        },
        follow: (key: FollowedKey, listener: ReportListener) => this.#followRun(key, listener),
        openMessage: (key: CompositeSessionKey) => feed.runs.openMessage(key),
        cancel: (request: CancelRunRequest) => this.cancelRun(request),
      },
    };
    super(new ServiceCore(parts, taken));
    this.#server = server;
    this.#feed = feed;
  }

  #followRun(key: FollowedKey, listener: ReportListener): () => void {
    const { appName, userId } = key;
    const stop = this.#feed.runs.follow(key, listener);
    const watch = new AbortController();
    const { signal } = watch;
    this.watch({ appName, userId }, { signal, onNotice: () => undefined });
    return () => {
      stop();
      watch.abort();
    };
  }

  /**
   * Runs an agent of `adk api_server`, and yields its events as they come. The request is read and sent at the first
   * step, once: it is not repeated, whatever fails.
   *
   * With `session` the handle gets the message and the events of the run. It has an event before the event is
   * yielded. After a failure it has what came until then; `getSession` returns the rest.
   *
   * A consumer that stops, for example by `break`, ends the run on the server too. So do `signal` and `close`.
   *
   * @throws SessionError (at a step) `invalid_argument`; `unserializable`; `schema_violation`; `not_found`; `remote`:
   *   the run failed; `stale_session`: another run changed the session; `connection_lost`: the stream was cut, or
   *   garbled; `aborted`; `closed`; `unsupported`: the server is the handler of `adk-session-wasm/server`
   *
   * @example
   * ```ts
   * import { RemoteSessionService } from 'adk-session-wasm/remote';
   *
   * async function ask(service: RemoteSessionService, text: string) {
   *   const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
   *   const session = await service.getOrCreateSession(key);
   *   const newMessage = { role: 'user', parts: [{ text }] };
   *   for await (const { content, partial } of service.run({ session, newMessage, streaming: true })) {
   *     console.log(partial ? 'a part' : 'the whole', content?.parts);
   *   }
   *   return session.events; // the message and the answer too
   * }
   * ```
   */
  run(request: RunRequest<S>): AsyncGenerator<Event, void, undefined> {
    const stop = new AbortController();
    const events = this.#run(request, stop.signal);
    const end = events.return.bind(events);
    // A generator alone would end only after its pending step.
    events.return = (value) => {
      stop.abort();
      return end(value);
    };
    return events;
  }

  /**
   * Cancels the run of a session. Resolves when it has ended and its end event is stored, at most about a second later.
   * If nothing runs, the message that `messageId` names gets an end event, unless it has its answer.
   *
   * @returns whether anything was cancelled
   * @throws SessionError (as a rejection) `unsupported`: the server is `adk api_server`, or has no agent; any error of
   *   a call
   *
   * @example
   * ```ts
   * import type { RemoteSessionService } from 'adk-session-wasm/remote';
   *
   * const stop = (service: RemoteSessionService) =>
   *   service.cancelRun({ appName: 'shop', userId: 'ada', sessionId: 's1' });
   * ```
   */
  async cancelRun(request: CancelRunRequest): Promise<boolean> {
    const core = coreOf(this);
    const { appName, userId, sessionId, messageId, signal } = core.calls.begin(request);
    const key = { appName, userId, sessionId };
    requireKey(key);
    await raceSignal(signal ?? new AbortController().signal, this.#server.load());
    const { store } = this.#server;
    if (store.cancelRun !== undefined) return store.cancelRun(key, messageId, { signal });
    throw new SessionError(
      'unsupported',
      'adk api_server cancels no run by request; end the iteration of run, and its run ends.',
      {
        storage: 'remote',
      },
    );
  }

  /** @param stopped fires when the caller wants no more events */
  async *#run(
    request: RunRequest<S>,
    stopped: HostAbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    // The request is taken before anything is awaited: the caller may change it meanwhile.
    const run = takeRun(coreOf(this), request);
    try {
      await raceSignal(stopped, untilAborted(run.signal, this.#server.load()));
      yield* this.#server.store.run(run, stopped);
    } catch (error) {
      if (!stopped.aborted) throw error;
    } finally {
      this.#feed.noteRun(run.key);
    }
  }
}

function takeConnectionOptions(options: RemoteSessionOptions<object>) {
  const {
    headers = {},
    getAccessToken,
    fetch,
    timeoutMs = TIMEOUT_MS,
    retries = MAX_RETRIES,
  } = options;
  for (const [key, value] of Object.entries({ getAccessToken, fetch })) {
    // The value is not shown: it may be a token.
    if (value !== undefined && typeof value !== 'function')
      throw invalid(key, 'must be a function');
  }
  requireWhole('timeoutMs', timeoutMs);
  requireWhole('retries', retries, 0);
  return {
    url: takeUrl(options.url),
    headers: takeHeaders(headers),
    getAccessToken,
    fetch,
    timeoutMs,
    retries,
    closeLimit: closeLimit(SERVER),
  };
}

/** An invalid URL is not shown: it may hold a password. */
function takeUrl(url: unknown): string {
  const base = (globalThis as { location?: { href?: string } }).location?.href;
  const kind = base === undefined ? 'a whole http or https URL' : 'an http or https URL, or a path';
  const rule = `must be ${kind}, such as https://chat.example/api, without credentials, query and fragment`;
  if (typeof url !== 'string' || !URL.canParse(url, base)) throw invalid('url', rule);
  const { protocol, username, password, search, hash, href } = new URL(url, base);
  if (!/^https?:$/.test(protocol) || username || password || search || hash)
    throw invalid('url', rule);
  return href.replace(/\/+$/, '');
}

function takeHeaders(headers: unknown): Record<string, string> {
  // `fetch` would refuse other characters with an error that shows the value.
  const isValid = ([name, value]: readonly [string, unknown]): boolean =>
    /^[\w-]+$/.test(name) && typeof value === 'string' && /^[\x20-\x7e]*$/.test(value);
  if (!isPlainObject(headers) || !Object.entries(headers).every(isValid)) {
    throw invalid('headers', 'must be an object of names and printable ASCII texts');
  }
  return { ...(headers as Record<string, string>) };
}
