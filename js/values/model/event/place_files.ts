/** Gives messages their files. */
import { defineMember } from '../../members.js';
import type { Content } from './content.js';
import { createEventActions } from './create_event.js';
import type { Event, NewEvent } from './event.js';
import { filesOf, fileText, MESSAGE_FILES, type MessageFile, textAt } from './message_files.js';

/** The most files that a client may name in a message. */
export const MAX_FILES = 100;

/**
 * Returns a message with files in place of those that it has: their metadata, and the delta of artifacts. Each stands
 * where its text does, also if that has moved. A file whose text stands nowhere is in neither.
 *
 * @param files of two with one name, the first gets the first text
 */
export function withFiles<Given extends NewEvent>(
  event: Given,
  files: readonly MessageFile[],
): Given {
  const { [MESSAGE_FILES]: before, ...metadata } = { ...event.customMetadata };
  const placed = new Map<number, MessageFile>();
  const { content } = event as Partial<Event>;
  for (const file of files) {
    const text = fileText(file.name);
    const isPlace = (at: number): boolean => !placed.has(at) && textAt(content, at) === text;
    const places = [file.part, ...(content?.parts?.keys() ?? [])];
    const part = places.find(isPlace);
    if (part !== undefined) placed.set(part, { ...file, part });
  }
  if (before === undefined && placed.size === 0) return event;
  const actions = event.actions ?? createEventActions();
  const artifactDelta = { ...actions.artifactDelta };
  for (const file of Array.isArray(before) ? before : []) {
    Reflect.deleteProperty(artifactDelta, String((Object(file) as Partial<MessageFile>).name));
  }
  const all = [...placed.values()].sort((first, second) => first.part - second.part);
  for (const { name, version } of all) defineMember(artifactDelta, name, version);
  const withActions = { ...event, actions: { ...actions, artifactDelta } };
  if (all.length > 0) metadata[MESSAGE_FILES] = all;
  else if (Object.keys(metadata).length === 0) {
    delete withActions.customMetadata;
    return withActions;
  }
  return { ...withActions, customMetadata: metadata };
}

/** Returns those files of a message that a request names. */
export function namedFiles(
  message: Event,
  named: readonly Pick<MessageFile, 'name' | 'version'>[],
): MessageFile[] {
  return filesOf(message).filter((file) =>
    named.some(({ name, version }) => name === file.name && version === file.version),
  );
}

/** Returns a message whose content was changed. It has those of its files whose texts are left. */
export function withContent(message: Event, content: Content): Event {
  return withFiles({ ...message, content }, filesOf(message));
}
