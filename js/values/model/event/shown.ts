/** What a person sees of an event, and which events are nothing but an error. */
import { isObject } from '../../json/rules.js';
import type { Part } from './content.js';
import type { Event } from './event.js';
import { filesOf, type MessageFile } from './message_files.js';
import { hasCallParts, partsOf } from './parts.js';
import { isAbort } from './waiting.js';

/** The code of the event that says that an agent threw. Its message never has what was thrown. */
export const RUN_FAILED = 'RUN_FAILED';
/** The code of the event that says that a run has stopped before it had an answer. */
export const RUN_STOPPED = 'RUN_STOPPED';

/** The error that an event reports. */
export interface ShownError {
  /** The code of the model or of the framework, for example `429` or `SAFETY`. */
  readonly code: string;
  /** What the event says of it. Default: the code. */
  readonly message: string;
}

/** What a person sees of an event. */
export interface ShownEvent {
  /** The texts, joined. Without thoughts, and without the texts that stand for files. */
  readonly text: string;
  /** The files of the message; see `useArtifact` and `showArtifact`. */
  readonly files: readonly MessageFile[];
  /** Why there is no answer, or why it ends too early. Absent for a run that was cancelled or stopped. */
  readonly error?: ShownError;
  /**
   * Whether there is nothing to see: no text, no file, no data, no code and no citation. Calls, their responses and
   * thoughts count as nothing. An event that only reports an error is empty too, and has an `error`.
   */
  readonly isEmpty: boolean;
}

/**
 * Returns what a person sees of an event or a draft.
 *
 * @param event an event as it is read; other programs may have stored anything in place of its members
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 * import { shownOf } from 'adk-session-wasm/live';
 *
 * const parts = [{ text: 'Hm.', thought: true }, { text: 'Green ' }, { text: 'tea' }];
 * console.log(shownOf(createEvent({ content: { parts } })).text); // Green tea
 * console.log(shownOf(createEvent({ errorCode: '429' })).error?.code); // 429
 * ```
 */
export function shownOf(event: Partial<Event>): ShownEvent {
  const files = filesOf(event);
  const error = errorIn(event);
  const list: unknown = event.content?.parts;
  const all: readonly unknown[] = Array.isArray(list) ? list : [];
  const parts = all.filter((part, at): part is Part => {
    return isObject(part) && !files.some((file) => file.part === at) && part.thought !== true;
  });
  const text = parts.map((part) => textOfPart(part)).join('');
  const isEmpty = text === '' && files.length === 0 && !parts.some(hasData) && !hasCitations(event);
  return { text, files, ...(error && { error }), isEmpty };
}

/**
 * Returns the error of an event that is nothing else: nothing to see, and no call. Such an event says that there is no
 * answer; other events with an error are answers that end too early.
 */
export function failureOfEvent(event: Partial<Event>): ShownError | undefined {
  const error = errorIn(event);
  if (error === undefined || partsOf(event).some(({ functionCall }) => functionCall))
    return undefined;
  return shownOf(event).isEmpty ? error : undefined;
}

/** Returns whether an event says that its run has stopped before it had an answer. */
export function isStopped({ errorCode }: Pick<Event, 'errorCode'>): boolean {
  return errorCode === RUN_STOPPED;
}

/** Returns whether an event tells something of its run: something to see, a call, a response or an error. */
export function tellsOfRun(event: Event): boolean {
  return !shownOf(event).isEmpty || hasCallParts(event) || errorCodeOf(event) !== undefined;
}

function errorIn(event: Partial<Event>): ShownError | undefined {
  const code = errorCodeOf(event);
  if (code === undefined || isAbort(event) || isStopped(event)) return undefined;
  const message: unknown = event.errorMessage;
  return { code, message: typeof message === 'string' && message !== '' ? message : code };
}

/** Returns the code of an error, which other programs may have stored as a number. */
function errorCodeOf({ errorCode }: Partial<Event>): string | undefined {
  const code: unknown = errorCode;
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' && code !== '' ? code : undefined;
}

function textOfPart({ text }: Part): string {
  const given: unknown = text;
  return typeof given === 'string' ? given : '';
}

function hasData(part: Part): boolean {
  const { inlineData, fileData, executableCode, codeExecutionResult } = part;
  return [inlineData, fileData, executableCode, codeExecutionResult].some(isObject);
}

function hasCitations({ citationMetadata, groundingMetadata }: Partial<Event>): boolean {
  const { citations } = Object(citationMetadata) as { readonly citations?: unknown };
  const { groundingChunks } = Object(groundingMetadata) as { readonly groundingChunks?: unknown };
  return [citations, groundingChunks].some((list) => Array.isArray(list) && list.length > 0);
}
