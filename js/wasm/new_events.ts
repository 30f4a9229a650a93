import type { EventSnapshot } from '../model/snapshot.js';
import { requireRoom } from './core.js';

/** Events that are to be stored, as they enter the wasm; see `src/bindings/new_events.rs`. */
export interface PackedEvents {
  /** Of each event its id and the JSON text of its delta, and the texts if they are packed. */
  readonly packed: string;
  /** Of each event the lengths of these four in UTF-16 code units, and its timestamp. */
  readonly numbers: Float64Array;
  /** Of each event its JSON text, and the text with superseded keys, if any. Absent if they are packed. */
  readonly texts: (string | undefined)[] | undefined;
}

/**
 * Packs events into one string: a string that crosses costs more than its bytes.
 *
 * @param packed the string so far
 * @param hasTexts whether the texts are packed, for a store that keeps them in the wasm
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
