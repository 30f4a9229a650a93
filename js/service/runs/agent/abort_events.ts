import { isPlainObject } from '../../../values/json/rules.js';
import { ABORTED } from '../../../values/model/event/waiting.js';
import type { Part } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import { isFinalResponse } from '../../../values/model/event/final_response.js';
import { partsOf } from '../../../values/model/event/parts.js';

const MESSAGE = 'Invocation was aborted by client.';

/**
 * Returns the events that seal a cancelled run, as google-adk for Python writes them (`_build_abort_events`): an error in
 * place of each missing response, or one event that only says that the run was cancelled.
 *
 * @param events the history; only the events of the run count
 * @param agentName the author of the event if no response is missing
 */
export function abortEvents(
  events: readonly Event[],
  invocationId: string,
  agentName: string,
): NewEvent[] {
  const own = events.filter((event) => event.invocationId === invocationId);
  const last = own.at(-1);
  // The task's agent has answered and waits for the user: no call is open.
  if (last?.isolationScope && last.author !== 'user' && isFinalResponse(last)) return [];
  const parts = own.flatMap((event) => partsOf(event).map((part) => ({ part, event })));
  const answered = new Set(parts.map(({ part }) => part.functionResponse?.id));
  const groups = new Map<string, { readonly event: Event; readonly parts: Part[] }>();
  for (const { part, event } of parts) {
    const { functionCall } = part;
    if (!isPlainObject(functionCall)) continue;
    const { id, name } = functionCall as NonNullable<Part['functionCall']>;
    if (!id || answered.has(id)) continue;
    const group = JSON.stringify([event.author, branchOf(event), event.isolationScope ?? null]);
    const response = { id, ...(name !== undefined && { name }), response: { error: MESSAGE } };
    const known = groups.get(group) ?? { event, parts: [] };
    known.parts.push({ functionResponse: response });
    groups.set(group, known);
  }
  const seal = { invocationId, errorCode: ABORTED, errorMessage: MESSAGE };
  if (groups.size === 0) return [{ ...seal, author: agentName }];
  return [...groups.values()].map(({ event, parts }) => ({
    ...seal,
    author: event.author ?? agentName,
    ...(branchOf(event) !== null && { branch: branchOf(event)! }),
    ...(event.isolationScope != null && { isolationScope: event.isolationScope }),
    content: { role: 'user', parts },
  }));
}

/** An empty branch counts as none, as in Python. */
function branchOf({ branch }: Event): string | null {
  return branch === undefined || branch === '' ? null : branch;
}
