import { compactionOf, isFilled, isMarker } from '../../values/model/event/markers.js';
import { invalidValue } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { takeOptions } from '../call/call.js';
import type { Part } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf } from '../../values/model/event/parts.js';
import { marksOf } from './rules/marks.js';
import { requireWasm } from '../wasm/all.js';
import { historyItems } from '../wasm/packed_marks.js';
import { itemsOf, activeEvents, summaryEvent } from './rules/view.js';

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
 * @throws SessionError `invalid_argument`, `wasm_unavailable`
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
  // There may be no service that has loaded a build.
  requireWasm();
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

// Which events google-adk for Python shows to one agent: `_should_include_event_in_context` and its parts.

/** The agent that reads a history. */
export interface HistoryReader {
  /** The agent's name. */
  agentName: string;
  /** The branch that the agent runs on, like `root.child`. Absent: events of all branches count. */
  branch?: string | undefined;
  /** The isolation scope of the agent's task: only events of that scope count. Absent: only events without one. */
  isolationScope?: string | undefined;
}

/** Function calls of the framework itself, which no model sees. */
const INTERNAL_CALLS = new Set([
  'adk_framework',
  'adk_request_credential',
  'adk_request_confirmation',
]);

/** Returns a function that says whether an agent reads an event. Rewinds and compactions are not considered. */
function agentFilter(
  events: readonly Event[],
  { agentName, branch, isolationScope }: HistoryReader,
): (event: Event) => boolean {
  const path = segmentsOf(branch);
  let callIds: Set<unknown> | undefined;
  const isCallId = (id: string): boolean => {
    callIds ??= new Set(events.flatMap(partsOf).map(({ functionCall }) => functionCall?.id));
    return callIds.has(id);
  };
  return (event) => {
    if ((event.isolationScope ?? undefined) !== (isolationScope ?? undefined)) return false;
    const parts = partsOf(event);
    const isNodeInput =
      event.author === 'user' &&
      isFilled(event.nodeInfo?.path) &&
      !parts.some(({ functionResponse }) => functionResponse);
    if (isNodeInput || isEmpty(event, parts) || parts.some(isInternal)) return false;
    const eventPath = segmentsOf(event.branch);
    if (path.length > 0 && !startsWith(path, eventPath)) return false;
    const below = startsWith(eventPath, path) ? eventPath.slice(path.length) : [];
    return !below.some((segment) => isToolRun(segment, agentName, isCallId));
  };
}

function isEmpty(event: Event, parts: readonly Part[]): boolean {
  if (compactionOf(event) !== undefined) return false;
  if (isFilled(event.inputTranscription) || isFilled(event.outputTranscription)) return false;
  return !isFilled(event.content?.role) || parts.every(isInvisible);
}

/** Parts of the model interface that the package's types do not name. */
type RawPart = Part & Readonly<Record<'toolCall' | 'toolResponse', unknown>>;

function isInvisible(part: Part): boolean {
  const { toolCall, toolResponse } = part as RawPart;
  if (part.functionCall || part.functionResponse || isFilled(part.thoughtSignature)) return false;
  if (toolCall || toolResponse) return false;
  if (part.thought === true) return true;
  const { text, inlineData, fileData, executableCode, codeExecutionResult } = part;
  return !isFilled(text) && !inlineData && !fileData && !executableCode && !codeExecutionResult;
}

function isInternal({ functionCall, functionResponse }: Part): boolean {
  const names = [functionCall?.name, functionResponse?.name];
  return names.some((name) => INTERNAL_CALLS.has(name ?? ''));
}

function segmentsOf(branch: unknown): string[] {
  return typeof branch === 'string' && branch !== '' ? branch.split('.') : [];
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((segment, at) => path[at] === segment);
}

/**
 * Returns whether a segment is the branch of a tool's run, `TOOL@CALL_ID`. A tool publishes its progress there. The
 * model only gets its response.
 */
function isToolRun(segment: string, agentName: string, isCallId: (id: string) => boolean): boolean {
  const at = segment.lastIndexOf('@');
  return at >= 0 && segment.slice(0, at) !== agentName && isCallId(segment.slice(at + 1));
}
