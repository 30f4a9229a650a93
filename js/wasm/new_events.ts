import type { EventSnapshot } from '../model/snapshot.js';
import { requireRoom } from './core.js';

/** Packed events on their way into the wasm; see `src/bindings/new_events.rs`. */
export interface PackedEvents {
  /** For each event its id, the JSON text of its delta and, if they are packed, its texts. */
  readonly packed: string;
  /** For each event the lengths of these four strings in UTF-16 code units, and its timestamp. */
  readonly numbers: Float64Array;
  /**
   * For each event its JSON text, and the text with superseded keys, if any. Absent if the texts
   * are packed.
   */
  readonly texts: (string | undefined)[] | undefined;
}

/**
 * Packs events into one string, because each string that enters the wasm has a fixed cost.
 *
 * @param packed the beginning of the string
 * @param hasTexts whether to pack the texts, for a store that keeps them in the wasm
 * @throws SessionError `quota_exceeded` if the wasm has no room for them
 */
export function packEvents(
  packed: string,
  events: readonly EventSnapshot[],
  hasTexts: boolean,
): PackedEvents {
  let [deltaUnits, textUnits] = [0, 0];
  for (const { deltaText, text, whole } of events) {
    deltaUnits += deltaText.length;
    if (hasTexts) textUnits += text.length + (whole?.length ?? 0);
  }
  requireRoom(deltaUnits, textUnits);
  const numbers = new Float64Array(5 * events.length);
  const texts: (string | undefined)[] | undefined = hasTexts ? undefined : [];
  let at = 0;
  for (const { id, timestamp, deltaText, text, whole = '' } of events) {
    packed += id + deltaText;
    if (texts === undefined) packed += text + whole;
    else texts.push(text, whole);
    numbers[at++] = id.length;
    numbers[at++] = deltaText.length;
    numbers[at++] = text.length;
    numbers[at++] = whole.length;
    numbers[at++] = timestamp;
  }
  return { packed, numbers, texts };
}
