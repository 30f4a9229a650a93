/**
 * Sessions on a server, over HTTP: on the handler of `adk-session-wasm/server`, or on `adk api_server` of google-adk.
 *
 * | word in this folder | meaning |
 * |---|---|
 * | handler | a server with `adk-session-wasm/server`: it runs the rules and has revisions |
 * | api server | a server of google-adk for Python: no appends, revisions or pages |
 * | kind | which of them a server is; it is asked for once, before the first call |
 * | connection | sends requests to one server, and repeats those that may be repeated |
 * | feed | the notices of the server, and its reports of runs |
 * | subscription | the connection that brings the notices of an app or a user; all its watchers share it |
 * | run | the work of the server's agent on one message; `js/service/runs` has the runs of a page |
 * | report | a run of a handler's agent as it is now, with its drafts; `js/core/run_report.ts` |
 *
 * `run/` streams the runs of an api server. A handler runs its agent by itself: its feed reports the run, and
 * `run_reports.ts` keeps the reports.
 *
 * `js/stores/http/protocol.ts` has what the handler and this folder agree on. The folder knows no class of services.
 */
import type { Call } from '../../core/call/call.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { Store } from '../../core/storage/store.js';
import type { CheckedRun } from './run/run_request.js';

/** A store for one kind of server. */
export interface ServerStore extends Store {
  /**
   * Runs an agent and yields its events.
   *
   * @param stopped fires when the caller wants no more events
   */
  run(run: CheckedRun, stopped: HostAbortSignal): AsyncGenerator<Event, void, undefined>;
  /** Cancels the run of a session, or seals a message that has no run. Absent: the server cannot. */
  cancelRun?(key: CompositeSessionKey, messageId: string | undefined, call: Call): Promise<boolean>;
}
