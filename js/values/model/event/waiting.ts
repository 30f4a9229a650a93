/**
 * The members of an event by which an invocation waits for somebody; the rule is in `src/core/view_rules/waiting.rs`.
 */
import { isPlainObject } from '../../json/rules.js';
import type { FunctionCall } from './content.js';
import type { Event } from './event.js';
import { partsOf } from './parts.js';

/** The framework's own calls, by which an agent asks the user. */
const QUESTION = 'adk_request_';
/** google-adk's code of an event that answers the calls of a run that was stopped. */
export const ABORTED = 'INVOCATION_ABORTED';
/** google-adk's status of a node that waits for an answer. */
const WAITING: readonly unknown[] = [4, 'waiting', 'WAITING'];

/** Returns whether a call is a question of the framework to the user. */
export function isQuestion({ name }: FunctionCall): boolean {
  const given: unknown = name;
  return typeof given === 'string' && given.startsWith(QUESTION);
}

/** Returns whether an event names one of its calls as long-running. */
export function isLongRunning({ longRunningToolIds }: Event, { id }: FunctionCall): boolean {
  const isNamed = typeof id === 'string' && id !== '';
  return isNamed && Array.isArray(longRunningToolIds) && longRunningToolIds.includes(id);
}

/** Returns whether an event answers the calls of a run that was stopped. */
export function isAbort({ errorCode }: Pick<Event, 'errorCode'>): boolean {
  return errorCode === ABORTED;
}

/** Returns whether the responses of an event close calls that wait: those of an agent do not. */
export function closesCalls(event: Event): boolean {
  return event.author === 'user' || isAbort(event);
}

/** Returns whether a node of an event's workflow waits; `undefined` if the event does not say. */
export function waitsAtNode({ actions }: Event): boolean | undefined {
  const { agentState, endOfAgent } = (actions ?? {}) as object as Readonly<Record<string, unknown>>;
  if (endOfAgent === true) return false;
  const nodes = isPlainObject(agentState) ? agentState.nodes : undefined;
  if (!isPlainObject(nodes)) return undefined;
  return Object.values(nodes).some((node) => isPlainObject(node) && WAITING.includes(node.status));
}

/** Returns whether an event has a call that may wait for an answer. */
export function hasWaitingCall(event: Event): boolean {
  if (event.author === 'user') return false;
  return partsOf(event).some(({ functionCall }) => {
    return (
      isPlainObject(functionCall) &&
      (isQuestion(functionCall) || isLongRunning(event, functionCall))
    );
  });
}

/** Returns whether an event may decide what waits: by such a call, an answer, or the state of a node. */
export function tellsWhatWaits(event: Event): boolean {
  if (hasWaitingCall(event) || waitsAtNode(event) !== undefined) return true;
  return (
    closesCalls(event) &&
    partsOf(event).some(({ functionResponse }) => isPlainObject(functionResponse))
  );
}
