/** Which events google-adk for Python shows to one agent: `_should_include_event_in_context` and its parts. */
import type { Event } from '../../values/model/event/event.js';
import type { Part } from '../../values/model/event/content.js';
import { partsOf } from '../../values/model/event/parts.js';
import { compactionOf, isFilled } from './marks.js';

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
export function agentFilter(
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
 * Returns whether a segment is the branch of a tool's run, `TOOL@CALL_ID`. A tool publishes its progress there. The model
 * only gets its response.
 */
function isToolRun(segment: string, agentName: string, isCallId: (id: string) => boolean): boolean {
  const at = segment.lastIndexOf('@');
  return at >= 0 && segment.slice(0, at) !== agentName && isCallId(segment.slice(at + 1));
}
