import {
  CREATED_HEADER,
  OPEN_HEADER,
  openText,
  REVISION_HEADER,
} from '../../stores/http/protocol.js';
import type { JsonObject } from '../../values/json/rules.js';
import { mapInTasks } from '../../core/call/scheduling.js';
import { isSummarised, rewindTargetOf } from '../../values/model/event/markers.js';
import type { Event } from '../../values/model/event/event.js';
import type { Session } from '../../values/model/session.js';
import { SessionError } from '../../values/errors/errors.js';
import { rewindStarts } from '../../core/history/rules/marks.js';
import type { RewindStart } from '../../core/read.js';
import type { ServiceCore } from '../../service/service_core.js';
import { newestMessage } from '../../service/runs/agent/run_status.js';
import { readNewestTurn } from '../runs/elsewhere.js';
import type { RouteCall } from './route.js';

/** Returns the session for the response, and adds its revisions to the headers. */
export async function respondWithSession(call: RouteCall, session: Session): Promise<JsonObject> {
  addRevisions(call, revisionsOf(call, session));
  const { form } = call;
  const events = await mapInTasks(session.events, (events) => events.map(form.writeEvent));
  const written = form.writeSession({ ...session, events: [] });
  return { ...written, events, ...summarisedIn(session.events) };
}

/** Adds the revisions of a session to the headers. */
export function addRevisions(
  { headers }: RouteCall,
  { created, revision }: SessionRevisions,
): void {
  if (created !== undefined) headers[CREATED_HEADER] = String(created);
  if (revision !== undefined) headers[REVISION_HEADER] = String(revision);
}

/**
 * Tells the client in a header which message a process may be answering. Of several processes, this one may have the run,
 * and another one the feed of the client.
 *
 * @param events those of the response, with the newest ones
 */
export async function tellOpen(call: RouteCall, events: readonly Event[] = []): Promise<void> {
  const { runs, service, key, headers, report } = call;
  if (runs === undefined) return;
  const hasAll =
    newestMessage(events) !== undefined &&
    events.every((event) => rewindTargetOf(event) === undefined);
  const isKnown = hasAll || !runs.isOneOfMany;
  const tail = isKnown ? events : ((await readNewestTurn(service, key))?.events ?? []);
  const found = await runs.elsewhereNow(key, tail, report);
  const message = newestMessage(tail);
  const own = message && runs.find(key, message.id);
  const leftMs = own?.leftMs ?? found?.leftMs ?? 0;
  const open = message && leftMs > 0 ? { messageId: message.id, leftMs } : undefined;
  if (runs.isOneOfMany) headers[OPEN_HEADER] = openText(open);
}

/** Returns which events of a transcript a summary stands for. Absent if there are none. */
export function summarisedIn(events: readonly Event[] = []): { summarised?: string[] } {
  const summarised = events.filter(isSummarised).map(({ id }) => id);
  return summarised.length > 0 ? { summarised } : {};
}

/**
 * Returns where the rewinds among a part of the events start. Absent without rewinds, and for a service of a user's
 * own.
 */
export async function startsOf(
  call: RouteCall,
  events: readonly Event[] = [],
): Promise<{ rewindStarts?: RewindStart[] }> {
  const { key, signal } = call;
  const starts = await call.core?.callStore({ signal }, (store) =>
    rewindStarts(store, key, events, { signal }),
  );
  return starts === undefined ? {} : { rewindStarts: starts };
}

/** The revision at which a session was created, and its own. Both are absent for a service of a user's own. */
interface SessionRevisions {
  readonly created?: number | undefined;
  readonly revision?: number | undefined;
}

export function revisionsOf({ service, core }: RouteCall, { state }: Session): SessionRevisions {
  const created = core?.handles.createdRevisionOf(state, NaN);
  const revision = service.revisionOf({ state });
  if (created === undefined || Number.isNaN(created) || revision === undefined) return {};
  return { created, revision };
}

/** @throws SessionError `unsupported` for a service of a user's own */
export function requireCore({ core }: RouteCall): ServiceCore {
  if (core !== undefined) return core;
  const message =
    'The server does not serve a service of adk-session-wasm itself, but one around it.';
  throw new SessionError('unsupported', message);
}
