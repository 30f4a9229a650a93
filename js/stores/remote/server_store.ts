/**
 * Sessions on a server, over HTTP: on the handler of `adk-session-wasm/server`, or on `adk api_server` of google-adk.
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
