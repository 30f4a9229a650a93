import type { Event } from '../../model/event/event.js';
import { clip } from '../view/text.js';

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

/** Summarises an event. Events of other programs may lack any member. */
export function summaryOf(event: Partial<Event>): EventSummary {
  const { author = '', content, actions, errorCode, errorMessage } = event;
  const parts = Array.isArray(content?.parts) ? content.parts : [];
  const texts: string[] = [];
  const tools: EventSummary['tools'][number][] = [];
  let length = 0;
  for (const part of parts) {
    const text = partText(part);
    if (length <= LENGTH && text !== undefined) {
      texts.push(text.slice(0, LENGTH + 1));
      length += text.length;
    }
    if (part.functionCall) tools.push({ kind: 'call', name: nameOf(part.functionCall) });
    if (part.functionResponse) tools.push({ kind: 'result', name: nameOf(part.functionResponse) });
  }
  return {
    author: clip(author === '' ? 'unknown' : author, 60),
    text: clip(texts.join(' '), LENGTH),
    tools,
    changedKeys: Object.keys(actions?.stateDelta ?? {}),
    error: errorCode === undefined && errorMessage === undefined ? undefined : clip(errorMessage ?? errorCode ?? '', 200), // prettier-ignore
  };
}

type Part = NonNullable<NonNullable<Event['content']>['parts']>[number];

function partText({ text, inlineData, fileData, executableCode }: Part): string | undefined {
  if (text !== undefined) return text;
  if (inlineData !== undefined)
    return `[${inlineData.displayName ?? inlineData.mimeType ?? 'data'}]`;
  if (fileData !== undefined) return `[${fileData.displayName ?? fileData.fileUri ?? 'file'}]`;
  return executableCode?.code;
}

function nameOf({ name = 'unnamed' }: { name?: string }): string {
  return clip(name, 60);
}
