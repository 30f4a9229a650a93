import { invalidValue } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { takeOptions } from '../call/call.js';
import type { Event } from '../../values/model/event/event.js';
import { agentFilter, type HistoryReader } from './agent_filter.js';
import { isMarker, marksOf } from './marks.js';
import { historyItems } from '../wasm/packed_marks.js';
import { itemsOf, activeEvents, summaryEvent } from './view.js';

/**
 * Returns the events that google-adk for Python would show to an agent's model, for programs that call a model
 * themselves. Undone turns, events of other branches and scopes, and events without visible content are left out.
 * The summary of a compaction stands in place of the events that it replaces. Compacted events of `@google/adk` count
 * too.
 *
 * The order is that of the appends. Python sorts by time as soon as a compaction remains. Transcriptions, messages
 * of other agents, and calls without responses are as they are stored.
 *
 * @param events all events of a session, in append order; `getSession` returns them so by default
 * @throws SessionError `invalid_argument`; `not_loaded` in the slim entry before its wasm is loaded
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { historyView, rewind } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession(key);
 * for (const invocationId of ['i1', 'i2']) {
 *   const content = { role: 'user', parts: [{ text: `message ${invocationId}` }] };
 *   await service.appendEvent({ session, event: { invocationId, author: 'user', content } });
 * }
 * await rewind(service, { ...key, before: { invocationId: 'i2' } });
 *
 * const { events = [] } = (await service.getSession(key)) ?? {};
 * const view = historyView(events, { agentName: 'guide' });
 * console.log(view.map(({ invocationId }) => invocationId)); // ['i1']
 * ```
 */
export function historyView(events: readonly Event[], reader: HistoryReader): Event[] {
  const given: unknown = events;
  if (!Array.isArray(given)) throw invalidValue('events', 'must be an array', given);
  const taken = takeOptions(reader);
  requireText('agentName', taken.agentName);
  const active = activeEvents(events);
  const isRead = agentFilter(active, taken);
  if (!active.some(isMarker)) return active.filter(isRead);
  const marks = marksOf(active, {
    counts: isRead,
    visibilityOf: (event) => (isRead(event) ? 'content' : 'filtered'),
  });
  const author = taken.agentName === '' ? 'model' : taken.agentName;
  return itemsOf(historyItems(marks, 'agent'), active, (compaction) => {
    const summary = summaryEvent(compaction, author);
    const { branch, isolationScope } = compaction;
    if (branch !== undefined) summary.branch = branch;
    if (isolationScope !== undefined) summary.isolationScope = isolationScope;
    return summary;
  });
}
