/** The marks of function calls; see `src/core/view_rules/calls.rs`. */
import { isPlainObject } from '../../../values/json/rules.js';
import type { FunctionCall, Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';
import {
  isAbort,
  isLongRunning,
  isQuestion,
  waitsAtNode,
} from '../../../values/model/event/waiting.js';
import type { CallLists, CallMark, PauseMark, ResponseMark } from '../../wasm/packed_marks.js';
import { CALL_FLAGS, EVENT_FLAGS } from '../../wasm/protocol.js';

/** A part with a function call or a response. */
export interface CallPart {
  /** The index of its event. */
  readonly event: number;
  readonly part: Part;
}

/** The marks of the calls of a history, and the parts that they stand for. */
export interface CallMarks extends CallLists {
  readonly callParts: readonly CallPart[];
  readonly responseParts: readonly CallPart[];
  /** Returns the number of an id. */
  readonly numberOf: (id: unknown) => number;
}

/**
 * Makes the marks of calls.
 *
 * @param numberOf returns the number of a name; equal names have equal numbers
 */
export function callMarksOf(
  events: readonly Event[],
  numberOf: (name: unknown) => number,
): CallMarks {
  const eventFlags: number[] = [];
  const calls: CallMark[] = [];
  const responses: ResponseMark[] = [];
  const pauses: PauseMark[] = [];
  const callParts: CallPart[] = [];
  const responseParts: CallPart[] = [];
  const optional = (id: unknown): number | undefined => (isId(id) ? numberOf(id) : undefined);
  events.forEach((event, index) => {
    const given: unknown = event.content?.parts;
    let otherParts = Array.isArray(given) ? given.length : 0;
    for (const part of partsOf(event)) {
      const { functionCall, functionResponse } = part;
      if (isPlainObject(functionCall)) {
        const { id } = functionCall as FunctionCall;
        const flags = callFlags(event, functionCall, part.thoughtSignature);
        const about = optional(subjectOf(functionCall));
        calls.push({ event: index, id: optional(id), about, flags });
        callParts.push({ event: index, part });
        otherParts -= 1;
      } else if (isPlainObject(functionResponse) && isId(functionResponse.id)) {
        responses.push({ event: index, id: numberOf(functionResponse.id) });
        responseParts.push({ event: index, part });
        otherParts -= 1;
      }
    }
    eventFlags.push(flagsOf(event, otherParts > 0));
    const isWaiting = waitsAtNode(event);
    if (isWaiting !== undefined) {
      pauses.push({ event: index, node: numberOf(pathOf(event) ?? event.author), isWaiting });
    }
  });
  return { eventFlags, calls, responses, pauses, callParts, responseParts, numberOf };
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}

function callFlags(event: Event, functionCall: FunctionCall, signature: unknown): number {
  return (
    (isQuestion(functionCall) ? CALL_FLAGS.question : 0) |
    (isLongRunning(event, functionCall) ? CALL_FLAGS.longRunning : 0) |
    (isId(signature) ? CALL_FLAGS.signed : 0)
  );
}

/** Returns the id of the call that a question of the framework is about. Both languages' names occur. */
function subjectOf(functionCall: FunctionCall): unknown {
  const { args } = functionCall;
  if (!isQuestion(functionCall) || !isPlainObject(args)) return undefined;
  const original = args.originalFunctionCall ?? args.original_function_call;
  if (isPlainObject(original)) return original.id;
  return args.functionCallId ?? args.function_call_id;
}

function flagsOf(event: Event, hasOtherParts: boolean): number {
  return (
    (event.author === 'user' ? EVENT_FLAGS.byUser : 0) |
    (isAbort(event) ? EVENT_FLAGS.abort : 0) |
    (pathOf(event) === undefined ? 0 : EVENT_FLAGS.ofNode) |
    (hasOtherParts ? EVENT_FLAGS.otherParts : 0)
  );
}

function pathOf({ nodeInfo }: Event): string | undefined {
  const path: unknown = isPlainObject(nodeInfo) ? nodeInfo.path : undefined;
  return isId(path) ? path : undefined;
}
