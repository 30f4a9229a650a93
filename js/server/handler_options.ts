import { describeValue } from '../values/errors/describe.js';
import { invalid, invalidValue } from '../values/errors/invalid.js';
import { takeOptions } from '../core/call/call.js';
import { requireFunction, requireOneOf, requireWhole } from '../values/errors/option_values.js';
import { isId } from '../values/model/values/ids.js';
import type { HostRequest } from '../values/model/host.js';
import type { RunAgent } from '../service/runs/agent/run_context.js';
import type { Authorize } from './rights/authorize.js';

/**
 * Options of {@link sessionHandler}.
 *
 * @example
 * ```ts
 * import type { SessionHandlerOptions } from 'adk-session-wasm/server';
 *
 * const options: SessionHandlerOptions = {
 *   authorize: (request, { userId }) => userId === request.headers.get('x-user'),
 *   basePath: '/api/sessions',
 *   allowedOrigins: ['https://shop.example'],
 * };
 * ```
 */
export interface SessionHandlerOptions {
  /** Decides about each request. There is no default. */
  authorize: Authorize;
  /** Beginning of the paths, such as `/api/sessions`. Default: `''`, as `adk api_server` has. */
  basePath?: string | undefined;
  /**
   * Origins whose pages may send requests, such as `https://shop.example`, or `tauri://localhost` of an app. Pages of the
   * server's own origin always may. Default: no others. Programs that are not pages are not concerned.
   */
  allowedOrigins?: readonly string[] | undefined;
  /**
   * The agent that answers the messages which clients append with `run`, or send to `/run` and `/run_sse`: a function,
   * or `runWith(runner)` of `adk-session-wasm/adk`. Default: none, and these requests get status 501.
   */
  run?: RunAgent | undefined;
  /**
   * Gets a promise for each run, which settles when the run has ended, and one for the sessions that are still read
   * after a search. It is for hosts that stop when their requests are answered: give `waitUntil` of Cloudflare Workers,
   * or `after` of Next. `onError` gets what it throws at a run, and the run goes on.
   */
  waitUntil?: ((running: Promise<unknown>) => void) | undefined;
  /**
   * Whether other processes run agents over the same storage: then a message is admitted only if none of them answers
   * the session, and a message that another process may still answer is shown as running elsewhere. Give `'many'` if a
   * load balancer spreads requests over processes. Default `'one'`; with `waitUntil`, with a `channel` of the service and
   * over a `D1SessionService` it is `'many'`. With `'one'`, messages of an earlier process count as unanswered at once; if another process turns out to
   * be there, `onError` is told once, and from then on it counts as `'many'`.
   */
  processes?: 'one' | 'many' | undefined;
  /** The most runs at once; further ones get status 503 and the code `too_many_runs`. Default 100. */
  maxRuns?: number | undefined;
  /**
   * Milliseconds after which a run is cancelled; `onError` gets the code `timeout`. Default ten minutes. All processes
   * over one storage need the same.
   */
  maxRunMs?: number | undefined;
  /** The most bytes of a request's body. `/version` tells it to clients. Default 8 MiB. */
  maxBodyBytes?: number | undefined;
  /** The most bytes of a file that a request sends as they are. Default 32 MiB. */
  maxArtifactBytes?: number | undefined;
  /** The apps that `/list-apps` and `/apps/A/app-info` name, if `listApps` is allowed. Default: both are status 404. */
  apps?: readonly string[] | undefined;
  /** The most events that one request may append. Default 1000. */
  maxEvents?: number | undefined;
  /**
   * Milliseconds after which a request fails with status 504, or 408 if its body is not there. At `/run` and `/run_sse`
   * the limit applies until the message is stored; the run after that has `maxRunMs`. A file may take longer to come: its
   * limit starts again with each of its bytes. Default 30 000.
   */
  timeoutMs?: number | undefined;
  /** The most change feeds that are open at once; further ones get status 503. Default 1000. */
  maxFeeds?: number | undefined;
  /** Milliseconds after which a change feed ends and the client must open it again. Default one hour. */
  maxFeedAgeMs?: number | undefined;
  /**
   * Gets each error whose message the response does not show: with status 500, 502, 503, 504 or 507. It also gets what
   * an agent or `waitUntil` throws, with the request that has sent the message. May be asynchronous.
   */
  onError?: ((error: unknown, request: HostRequest) => void) | undefined;
}

/** Options with their defaults. */
export type HandlerSettings = Readonly<ReturnType<typeof takeSettings>>;

/** @throws SessionError `invalid_argument` naming the invalid option */
export function takeSettings(given: SessionHandlerOptions) {
  // A call without options is told that it needs `authorize`.
  const none = {} as SessionHandlerOptions;
  const options = takeOptions((given as SessionHandlerOptions | undefined) ?? none);
  const { authorize, basePath = '', allowedOrigins = [], apps, onError } = options;
  const { run, waitUntil, processes = waitUntil && 'many' } = options;
  requireFunction('authorize', authorize);
  if (onError !== undefined) requireFunction('onError', onError);
  if (run !== undefined) requireFunction('run', run);
  if (waitUntil !== undefined) requireFunction('waitUntil', waitUntil);
  if (processes !== undefined) requireOneOf('processes', processes, ['one', 'many']);
  if (typeof (basePath as unknown) !== 'string' || !isPath(basePath)) {
    throw invalidValue(
      'basePath',
      `must be '' or like '/api/sessions', encoded as in a URL`,
      basePath,
    );
  }
  if (!Array.isArray(allowedOrigins)) {
    throw invalidValue('allowedOrigins', 'must be an array', allowedOrigins);
  }
  if (apps !== undefined && !(Array.isArray(apps) && apps.every(isId))) {
    throw invalidValue('apps', 'must be an array of names', apps);
  }
  return {
    authorize,
    basePath,
    apps: apps && [...apps],
    allowedOrigins: new Set(allowedOrigins.map(requireOrigin)),
    run,
    waitUntil,
    processes,
    maxRuns: requireWhole('maxRuns', options.maxRuns ?? 100),
    maxRunMs: requireWhole('maxRunMs', options.maxRunMs ?? 600_000),
    maxBodyBytes: requireWhole('maxBodyBytes', options.maxBodyBytes ?? 8 * 2 ** 20),
    maxArtifactBytes: requireWhole('maxArtifactBytes', options.maxArtifactBytes ?? 32 * 2 ** 20),
    maxEvents: requireWhole('maxEvents', options.maxEvents ?? 1000),
    timeoutMs: requireWhole('timeoutMs', options.timeoutMs ?? 30_000),
    maxFeeds: requireWhole('maxFeeds', options.maxFeeds ?? 1000),
    maxFeedAgeMs: requireWhole('maxFeedAgeMs', options.maxFeedAgeMs ?? 3_600_000),
    onError,
  };
}

/** Whether paths of requests can begin so: a URL writes other characters in another way. */
function isPath(text: string): boolean {
  return /^(\/[^/?#]+)*$/.test(text) && new URL(`http://localhost${text}/`).pathname === `${text}/`;
}

/**
 * Only `http` and `https` have an origin for `URL`; for the schemes of apps and extensions, such as `tauri:` and
 * `chrome-extension:`, it says `'null'`.
 */
function requireOrigin(origin: string): string {
  const { protocol, host } = URL.canParse(origin) ? new URL(origin) : { protocol: '', host: '' };
  if (host !== '' && origin === `${protocol}//${host}`) return origin;
  throw invalid(
    'allowedOrigins',
    `must have origins like 'https://shop.example', without a path; one is ${describeValue(origin)}`,
  );
}
