import type { Event } from '../../values/model/event/event.js';
import { filesOf } from '../../values/model/event/message_files.js';
import { partsOf } from '../../values/model/event/parts.js';
import { utf8Length } from '../../values/json/text.js';
import { wordPieces } from '../../values/words.js';
import type { Pauses } from './pauses.js';

/**
 * Returns the texts that an event shows to people: without thoughts, calls and responses. A file has its name, also in
 * place of the text that stands for it in a message.
 */
export function ownTexts(event: Partial<Event>): string[] {
  const files = new Map(filesOf(event).map(({ part, name }) => [part, name] as const));
  const texts = partsOf(event).map((part, index): unknown => {
    const { text, thought, inlineData, fileData } = part;
    if (thought) return undefined;
    return (
      files.get(index)?.replace(/^user:/, '') ??
      text ??
      inlineData?.displayName ??
      fileData?.displayName ??
      fileNameOf(fileData?.fileUri)
    );
  });
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

function fileNameOf(uri: unknown): string | undefined {
  return typeof uri === 'string' ? uri.slice(uri.lastIndexOf('/') + 1) : undefined;
}

/**
 * Makes the words of a text, as {@link wordPieces}, with turns of the loop between the pieces.
 *
 * @param most the bytes of words in UTF-8. If there are more, the rest of the text is left out, but not all that is beyond
 */
export async function wordsInTurns(text: string, pauses: Pauses, most = Infinity): Promise<string> {
  let words = '';
  let bytes = 0;
  for (const piece of wordPieces(text)) {
    words += piece;
    bytes += utf8Length(piece);
    if (bytes > most) break;
    await pauses.after(piece.length);
  }
  return words;
}

/** Returns whether the words of a text have all needles. Makes the words until they do, with turns of the loop. */
export async function hasAllInTurns(
  text: string,
  needles: readonly string[],
  pauses: Pauses,
): Promise<boolean> {
  let missing = needles;
  const longest = needles.reduce((most, { length }) => Math.max(most, length), 0);
  let words = '';
  for (const piece of wordPieces(text)) {
    words = words.slice(-longest) + piece;
    missing = missing.filter((needle) => !words.includes(needle));
    if (missing.length === 0) return true;
    await pauses.after(piece.length);
  }
  return false;
}
