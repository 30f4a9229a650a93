/**
 * Sessions on a server, over HTTP: on the handler of `adk-session-wasm/server`, or on `adk api_server` of google-adk.
 *
 * `run.ts` streams the runs of an api server. A handler runs its agent by itself: its feed reports the run, and
 * `run_reports.ts` keeps the reports.
 *
 * `js/stores/http/protocol.ts` has what the handler and this folder agree on. The folder knows no class of services.
 */
import type { Call } from '../../core/call/call.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import type { Store } from '../../core/storage/store.js';
import { SessionError } from '../../values/errors/errors.js';
import { isPlainObject } from '../../values/json/rules.js';
import type { Event } from '../../values/model/event/event.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { isCompatible, PROTOCOL_HEADER, PROTOCOL_VERSION, VERSION_PATH } from '../http/protocol.js';
import type { HttpConnection, ServerKind } from './connection/connection.js';
import type { CheckedRun } from './run_request.js';

/** A store for one kind of server. */
export interface ServerStore extends Store {
  /**
   * Runs an agent and yields its events.
   *
   * @param stopped fires when the caller wants no more events
   */
  run(run: CheckedRun, stopped: HostAbortSignal): AsyncGenerator<Event, void, undefined>;
  /** Cancels the run of a session, or stores the end event of a message that has no run. Absent: the server cannot. */
  cancelRun?(key: CompositeSessionKey, messageId: string | undefined, call: Call): Promise<boolean>;
}

/** Asks a server for its kind. */
export async function askServerKind(connection: HttpConnection, call: Call): Promise<ServerKind> {
  const request = { method: 'GET', path: VERSION_PATH } as const;
  const kind = await connection.request<ServerKind>(request, call, (json, headers) => {
    const version = headers.get(PROTOCOL_HEADER);
    if (version === null) {
      if (!isPlainObject(json) || json.language !== 'python') return undefined;
      return { isHandler: false, keepsMutations: false, runsAgents: false };
    }
    if (!isCompatible(version)) throw otherVersion(version);
    // An answer without this member was cut off. If it counted as `false`, a repeated write could be applied twice.
    if (!isPlainObject(json) || typeof json.keepsMutations !== 'boolean') return undefined;
    const { keepsMutations, runsAgents, maxBodyBytes: most, maxArtifactBytes: mostOfFile } = json;
    const maxBodyBytes = isRevision(most) ? most : undefined;
    const maxArtifactBytes = isRevision(mostOfFile) ? mostOfFile : undefined;
    const limits = { maxBodyBytes, maxArtifactBytes };
    return { isHandler: true, keepsMutations, runsAgents: runsAgents === true, ...limits };
  });
  return kind!;
}

function otherVersion(version: string): SessionError {
  const message = `The server has version ${version.slice(0, 20)} of the protocol, this client ${PROTOCOL_VERSION}; update the older side.`;
  return new SessionError('unsupported', message);
}
