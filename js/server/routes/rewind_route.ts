import { requireText } from '../../errors/option_values.js';
import { rewindTargetOf } from '../../history/marks.js';
import { rewindSession } from '../../history/rewind.js';
import type { Event, NewEvent } from '../../model/event/event.js';
import type { TakenRights } from '../rights/authorize.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { keyOf, type Route, type RouteCall } from './route.js';
import { TEXT } from './schemas.js';
import { respondWithSession } from './session_response.js';
import { SESSION } from './session_routes.js';

/** The route of rewinds, in the form that is proposed for `adk api_server` (google/adk-python#7178). */
export const REWIND_ROUTE: Route = {
  method: 'POST',
  path: `${SESSION}/rewind`,
  action: 'rewind',
  summary: 'Undoes an invocation and everything after it, by an event, and returns the session.',
  body: { rewindBeforeInvocationId: TEXT },
  response: 'Session',
  run: async (call) => {
    const { rewindBeforeInvocationId: invocationId } = call.body;
    requireText('rewindBeforeInvocationId', invocationId);
    await requireNoRun(call);
    const { session } = await rewindSession(call.service, {
      ...keyOf(call),
      before: { invocationId },
    });
    return respondWithSession(call, session);
  },
};

/**
 * Returns the rights of an append. A client that computes a rewind itself appends its marker. That needs the same
 * permission as the route of rewinds, and can be stored together with the user's next message.
 *
 * @throws HttpRefusal if there is a marker and a rewind is not allowed, or an agent runs
 */
export async function rightsToAppend(
  call: RouteCall,
  events: readonly NewEvent[],
): Promise<TakenRights> {
  if (!events.some((event) => rewindTargetOf(event as Event) !== undefined)) return call.rights;
  await call.requireAction('rewind');
  await requireNoRun(call);
  return { ...call.rights, mayRewind: true };
}

async function requireNoRun(call: RouteCall): Promise<void> {
  if (!(await call.isRunning())) return;
  throw new HttpRefusal(409, 'An agent runs in this session. Stop it, then rewind.');
}
