import type { Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { compactionOf, rewindTargetOf } from '../../../values/model/event/markers.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { clip, textOf } from '../view/text.js';

/** The characters of an event's text that a row of the timeline holds. */
const LENGTH = 300;

/** What a row of the timeline shows of an event. */
export interface EventSummary {
  readonly author: string;
  /** The beginning of what was said. */
  readonly text: string;
  /** The functions that were called and that answered. */
  readonly tools: readonly { readonly kind: 'call' | 'result'; readonly name: string }[];
  /** The keys of the state that changed. */
  readonly changedKeys: readonly string[];
  readonly error: string | undefined;
}

/** Summarises an event. Events of other programs may lack any member, or have something else in its place. */
export function summaryOf(event: Partial<Event>): EventSummary {
  const { author, actions } = event;
  const texts: string[] = [];
  const tools: EventSummary['tools'][number][] = [];
  let length = 0;
  for (const part of partsOf(event)) {
    const text = textOf(partText(part));
    if (length <= LENGTH && text !== '') {
      texts.push(text.slice(0, LENGTH + 1));
      length += text.length;
    }
    if (part.functionCall) tools.push({ kind: 'call', name: shownName(part.functionCall) });
    if (part.functionResponse)
      tools.push({ kind: 'result', name: shownName(part.functionResponse) });
  }
  const failure = failureOf(event);
  return {
    author: clip(author, 60) || 'unknown',
    text: clip(markerText(event) ?? texts.join(' '), LENGTH),
    tools,
    changedKeys: Object.keys(actions?.stateDelta ?? {}),
    error: failure && clip(failure, 200),
  };
}

/** Returns what the marker of a rewind or a compaction does; `undefined` for other events. */
function markerText(event: Partial<Event>): string | undefined {
  const target = rewindTargetOf(event as Event);
  if (target !== undefined) return `[rewind to before ${target}]`;
  return compactionOf(event as Event) && '[compaction]';
}

/** Returns why an event failed; `undefined` if it did not. */
export function failureOf({ errorCode, errorMessage }: Partial<Event>): string | undefined {
  return textOf(errorMessage) || textOf(errorCode) || undefined;
}

/** Returns what a row shows of a part, mostly a text. */
function partText({ text, inlineData, fileData, executableCode }: Part): unknown {
  if (text !== undefined) return text;
  if (inlineData) return `[${textOf(inlineData.displayName ?? inlineData.mimeType ?? 'data')}]`;
  if (fileData) return `[${textOf(fileData.displayName ?? fileData.fileUri ?? 'file')}]`;
  return executableCode?.code;
}

export function shownName({ name }: { name?: string }, length = 60): string {
  return clip(name, length) || 'unnamed';
}
