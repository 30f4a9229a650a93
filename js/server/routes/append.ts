import { optionalCount, requireObject } from '../../values/errors/option_values.js';
import type { NewEvent } from '../../values/model/event/event.js';
import type { ExpectedEvents } from '../../values/model/session.js';
import { appendOfClient, type Expected } from '../rights/client_append.js';
import { eventsIn } from './call_body.js';
import { keyOf, type RouteCall } from './route.js';

/**
 * Appends the events of a body, if the rights of the request admit them.
 *
 * @param append appends the events that the rights admit; called again after others have appended
 * @throws HttpRefusal 403 if the rights do not admit an event
 */
export async function appendBody<Result>(
  call: RouteCall,
  append: (events: NewEvent[], expected: Expected) => Promise<Result>,
): Promise<Result> {
  const { service, body } = call;
  const events = eventsIn(call);
  // A client may send null for what is absent.
  const expectedEvents = body.expectedEvents ?? undefined;
  if (expectedEvents !== undefined) requireObject('expectedEvents', expectedEvents);
  return appendOfClient({
    service,
    key: keyOf(call),
    rights: call.rights,
    events,
    expectedRevision: optionalCount('expectedRevision', body.expectedRevision ?? undefined),
    // The service checks the revisions.
    expectedEvents: expectedEvents as ExpectedEvents | undefined,
    append,
  });
}
