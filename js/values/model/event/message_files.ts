/**
 * The files of a message. The message has a text for each, as google-adk writes it, and its metadata says which version of
 * which artifact the text stands for. There is no URI: it would reach the model, which cannot open it.
 */
import { isPlainObject } from '../../json/rules.js';
import type { Content } from './content.js';
import type { Event } from './event.js';

/** The member of an event's `customMetadata` with the files of the message. */
export const MESSAGE_FILES = 'adk_session_wasm_files';

/** A version of an artifact that a message has in place of one of its parts. */
export interface MessageFile {
  /** The index of the part of the message that stands for the file. */
  part: number;
  /** The name of the artifact in the event's session; with `user:`, in those of its user. */
  name: string;
  /** The version, from 0. */
  version: number;
  /** An IANA media type. */
  mimeType?: string;
  /** In bytes. */
  size?: number;
}

/** Returns a file of a message, from what is known of the version. */
export function messageFileOf(
  part: number,
  name: string,
  { version, mimeType, size }: Omit<MessageFile, 'part' | 'name'>,
): MessageFile {
  return {
    part,
    name,
    version,
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}

/** Returns the text that stands for a file. google-adk's `SaveFilesAsArtifactsPlugin` writes it. */
export function fileText(name: string): string {
  return `[Uploaded Artifact: "${name}"]`;
}

/**
 * Returns the files of a message, in the order of its parts.
 *
 * A file counts only where its text stands: who changes the text takes the file out of the message.
 *
 * @param event an event as it is read; other programs may have stored anything in its metadata
 * @returns empty if there are none
 *
 * @example
 * ```ts
 * import { createEvent, filesOf } from 'adk-session-wasm';
 *
 * const event = createEvent({
 *   author: 'user',
 *   content: { role: 'user', parts: [{ text: '[Uploaded Artifact: "tea.png"]' }] },
 *   customMetadata: { adk_session_wasm_files: [{ part: 0, name: 'tea.png', version: 2 }] },
 * });
 * console.log(filesOf(event)); // [{ part: 0, name: 'tea.png', version: 2 }]
 * ```
 */
export function filesOf(event: Partial<Pick<Event, 'content' | 'customMetadata'>>): MessageFile[] {
  const metadata: unknown = event.customMetadata;
  const files = isPlainObject(metadata) ? metadata[MESSAGE_FILES] : undefined;
  if (!Array.isArray(files)) return [];
  const taken = new Map<number, MessageFile>();
  for (const file of files) {
    const { part, name, version, mimeType, size } = Object(file) as Readonly<
      Record<keyof MessageFile, unknown>
    >;
    if (typeof name !== 'string' || !isIndex(part) || !isIndex(version)) continue;
    if (textAt(event.content, part) !== fileText(name)) continue;
    taken.set(part, {
      part,
      name,
      version,
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(isIndex(size) && { size }),
    });
  }
  return [...taken.values()].sort((first, second) => first.part - second.part);
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns the text of a part of a message. */
export function textAt(content: Content | undefined, index: number): unknown {
  const parts: unknown = content?.parts;
  const part: unknown = Array.isArray(parts) ? parts[index] : undefined;
  return isPlainObject(part) ? part.text : undefined;
}
