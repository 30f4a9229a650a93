/** The files of messages that are sent. */
import { parseEventText } from '../../core/storage/stored_events.js';
import type { NamedFile, ReadyAppend } from '../../core/write.js';
import { filesOf, MESSAGE_FILES } from '../../values/model/event/message_files.js';
import { withFiles } from '../../values/model/event/place_files.js';

/**
 * Splits the files from the messages of an append: the server makes their deltas and metadata itself, and takes neither
 * from a client.
 */
export function withFilesApart(write: ReadyAppend): ReadyAppend {
  const files: NamedFile[] = [];
  const events = write.events.map((sent, at) => {
    const event = sent.text.includes(MESSAGE_FILES) ? parseEventText(sent.text) : undefined;
    const own = event?.author === 'user' ? filesOf(event) : [];
    if (event === undefined || own.length === 0) return sent;
    for (const { part, name, version } of own)
      files.push({ ...(at > 0 && { event: at }), part, name, version });
    return { ...sent, text: JSON.stringify(withFiles(event, [])) };
  });
  return files.length === 0 ? write : { ...write, events, files };
}
