import { readFileSync } from 'node:fs';

import type { Event } from '../../../js/index.js';
import type { ReaderContext } from './histories.js';

export const VECTORS = new URL('../../vectors/history.json', import.meta.url);

/** The views of a history by their events' ids; see tests/interop/python/contents.py. */
export interface Views {
  readonly transcript: readonly string[];
  readonly summarised: readonly string[];
  readonly model: readonly string[];
  readonly contexts: readonly ContextView[];
}

/** The events that an agent reads, and their texts; `texts` is `null` where Python raises an error. */
export interface ContextView {
  readonly ids: readonly string[];
  readonly texts: readonly string[] | null;
}

/** One vector of tests/vectors/history.json. */
export interface Vector extends Omit<Views, 'contexts'> {
  readonly name: string;
  readonly events: readonly Event[];
  readonly contexts: readonly (ReaderContext & ContextView)[];
}

export function readVectors(): Vector[] {
  return JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[];
}

/** The text of the file: one event, one context and one list a line, so that a change of an event is a change of its line. */
export function textOfVectors(vectors: readonly Vector[]): string {
  const lines = (values: readonly unknown[]): string =>
    values.length === 0
      ? '[]'
      : `[\n      ${values.map((value) => JSON.stringify(value)).join(',\n      ')}\n    ]`;
  const texts = vectors.map((vector) => {
    const members = Object.entries(vector).map(([name, value]: [string, unknown]) => {
      const perLine = name === 'events' || name === 'contexts';
      const text = perLine ? lines(value as unknown[]) : JSON.stringify(value);
      return `    ${JSON.stringify(name)}: ${text}`;
    });
    return `  {\n${members.join(',\n')}\n  }`;
  });
  return `[\n${texts.join(',\n')}\n]\n`;
}
