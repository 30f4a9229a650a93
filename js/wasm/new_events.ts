import type { EventSnapshot } from '../model/snapshot.js';

/** Events that are to be stored, as they enter the wasm; see `src/bindings/new_events.rs`. */
export interface PackedEvents {
  /** Of each event its id and the JSON text of its delta. A string that crosses costs more than its bytes. */
  readonly packed: string;
  /** Of each event the lengths of these two in UTF-16 code units, and its timestamp. */
  readonly numbers: Float64Array;
  /** Of each event its JSON text, and the text with superseded keys, if any. */
  readonly texts: (string | undefined)[];
}

/** @returns the events, packed, and how many UTF-16 code units of deltas and of texts they hold */
export function packEvents(
  events: readonly EventSnapshot[],
): PackedEvents & { readonly deltaUnits: number; readonly textUnits: number } {
  let [packed, deltaUnits, textUnits, at] = ['', 0, 0, 0];
  const numbers = new Float64Array(3 * events.length);
  const texts: (string | undefined)[] = [];
  for (const { id, timestamp, deltaText, text, whole } of events) {
    packed += id + deltaText;
    numbers[at++] = id.length;
    numbers[at++] = deltaText.length;
    numbers[at++] = timestamp;
    texts.push(text, whole);
    deltaUnits += deltaText.length;
    textUnits += text.length + (whole?.length ?? 0);
  }
  return { packed, numbers, texts, deltaUnits, textUnits };
}
