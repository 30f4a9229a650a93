/** Changes function calls and responses in copies of events; the core decides which. */
import { isObject } from '../../../values/json/rules.js';
import type { FunctionCall, FunctionResponse, Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import type { PartChange } from '../../wasm/packed_marks.js';
import type { CallMarks } from './call_marks.js';

/**
 * Returns a function that returns an event as a reader gets it: the event itself if no part of it changes, or else a
 * copy.
 */
export function partChanger(
  { callParts, responseParts }: CallMarks,
  changes: readonly PartChange[],
): (event: Event, index: number) => Event {
  const changed = new Set<number>();
  const suffixes = new Map<Part, number>();
  for (const { isResponse, index, suffix } of changes) {
    const found = (isResponse ? responseParts : callParts)[index];
    if (found === undefined) continue;
    changed.add(found.event);
    suffixes.set(found.part, suffix);
  }
  return (event, index) => {
    if (!changed.has(index) || event.content?.parts === undefined) return event;
    const parts = changedParts(event.content.parts, suffixes);
    return { ...event, content: { ...event.content, parts } };
  };
}

/** The thought signature of a call that is left out goes to the next call. */
function changedParts(parts: readonly Part[], suffixes: ReadonlyMap<Part, number>): Part[] {
  const kept: Part[] = [];
  let signature: string | undefined;
  for (const part of parts) {
    // Another program may have stored anything in place of a part.
    if (!isObject(part)) {
      kept.push(part);
      continue;
    }
    const suffix = suffixes.get(part);
    if (suffix === 0) {
      signature ??= part.thoughtSignature as string | undefined;
      continue;
    }
    let shown = suffix === undefined ? part : withSuffix(part, suffix);
    if (shown.functionCall !== undefined && signature !== undefined) {
      shown = { ...shown, thoughtSignature: shown.thoughtSignature ?? signature };
      signature = undefined;
    }
    kept.push(shown);
  }
  return kept;
}

function withSuffix(part: Part, suffix: number): Part {
  const renamed = <Call extends FunctionCall | FunctionResponse>(call: Call): Call => {
    return { ...call, id: `${call.id}-${suffix}` };
  };
  const { functionCall, functionResponse } = part;
  return {
    ...part,
    ...(functionCall && { functionCall: renamed(functionCall) }),
    ...(functionResponse && { functionResponse: renamed(functionResponse) }),
  };
}
