import type { Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { compactionOf, rewindTargetOf } from '../../../values/model/event/markers.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { isStopped, shownOf } from '../../../values/model/event/shown.js';
import { isAbort } from '../../../values/model/event/waiting.js';
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
  const { text, files, error } = shownOf(event);
  const texts = [text, ...files.map(({ name }) => `[${name}]`)];
  const tools: EventSummary['tools'][number][] = [];
  for (const part of partsOf(event)) {
    texts.push(dataText(part));
    if (part.functionCall) tools.push({ kind: 'call', name: shownName(part.functionCall) });
    if (part.functionResponse)
      tools.push({ kind: 'result', name: shownName(part.functionResponse) });
  }
  return {
    author: clip(author, 60) || 'unknown',
    text: clip(markerText(event) ?? texts.filter((shown) => shown !== '').join(' '), LENGTH),
    tools,
    changedKeys: Object.keys(actions?.stateDelta ?? {}),
    error: error && clip(error.message, 200),
  };
}

/** Returns what a marker does, or how a run was ended; `undefined` for other events. */
function markerText(event: Partial<Event>): string | undefined {
  if (isAbort(event)) return '[cancelled]';
  if (isStopped(event)) return '[stopped]';
  const target = rewindTargetOf(event as Event);
  if (target !== undefined) return `[rewind to before ${target}]`;
  return compactionOf(event as Event) && '[compaction]';
}

/** Returns what a row shows of a part that is no text. */
function dataText({ inlineData, fileData, executableCode }: Part): string {
  if (inlineData) return `[${textOf(inlineData.displayName ?? inlineData.mimeType ?? 'data')}]`;
  if (fileData) return `[${textOf(fileData.displayName ?? fileData.fileUri ?? 'file')}]`;
  return textOf(executableCode?.code);
}

export function shownName({ name }: { name?: string }, length = 60): string {
  return clip(name, length) || 'unnamed';
}
