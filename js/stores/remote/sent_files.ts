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
    const customMetadata = event?.customMetadata;
    if (event === undefined || customMetadata?.[MESSAGE_FILES] === undefined) return sent;
    const own = filesOf(event);
    const bare = withFiles(event, []);
    // If all texts are gone, the server leaves the metadata out, and tells so, as of the files that it adds.
    if (own.length === 0) return { ...sent, text: JSON.stringify({ ...bare, customMetadata }) };
    for (const { part, name, version } of own)
      files.push({ ...(at > 0 && { event: at }), part, name, version });
    return { ...sent, text: JSON.stringify(bare) };
  });
  return { ...write, events, ...(files.length > 0 && { files }) };
}
