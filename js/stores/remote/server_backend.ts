import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { Backend } from '../../core/storage/backend.js';
import type { CheckedRun } from './run/run_request.js';

/** What one kind of server does. */
export interface ServerBackend extends Backend {
  /**
   * Runs an agent and yields its events.
   *
   * @param stopped fires when the caller wants no more events
   */
  run(run: CheckedRun, stopped: HostAbortSignal): AsyncGenerator<Event, void, undefined>;
}
