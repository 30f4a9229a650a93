/** Templates to compare this package with `@google/adk` and with google-adk for Python. */

import { readFileSync } from 'node:fs';

import type { Part } from '../../../../js/values/model/event/content.js';

/** A text, or a part of an error's message. */
export type Outcome = string | { readonly code?: string; readonly message: string };

/** A difference that docs/instructions.md declares. */
export interface Difference {
  readonly template: string;
  readonly ours: Outcome;
  readonly adk: Outcome;
  /** Absent: a text that only Python makes. */
  readonly python?: Outcome;
}

const file = new URL('../../../vectors/adk_templates.json', import.meta.url);
export const differences = JSON.parse(readFileSync(file, 'utf8')) as Difference[];

export const state: Readonly<Record<string, unknown>> = {
  s: 'Ada',
  n: 12,
  empty: '',
  braces: '{s}',
  'user:s': 'user',
  'app:s': 'app',
  'temp:s': 'temp',
  _1: 'one',
  nothing: null,
  list: [1, 'a'],
  record: { k: 1 },
  yes: true,
  이름: '민수',
};

export const artifacts: Readonly<Record<string, Part>> = {
  terms: { text: 'Be kind.' },
  'user:a b.txt': { text: '' },
  photo: { inlineData: { data: 'QQ==', mimeType: 'image/png' } },
};

const PIECES = `{ } s n empty braces user: app: temp: _1 1 gone ? ?} artifact. terms user:a b.txt : . - " ' < >`;

/** Texts without anything in which the rules differ: neighbouring braces, a backslash, `$`, `null`. */
export function sameTemplates(count: number): string[] {
  const pieces = [...PIECES.split(' '), ' ', '\n', '\t', '\u3000', '{s}', '{gone?}', '{ user:s? }'];
  const templates = new Set<string>();
  // A fixed seed: a failure repeats.
  let seed = 7;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  while (templates.size < count) {
    const length = 1 + next(9);
    const text = Array.from({ length }, () => pieces[next(pieces.length)]).join('');
    const differs = /\{\{|\}\}|artifact\.(?:\s|\??\s*\})|artifact\.[^{}]*\n/.test(text);
    if (!differs) templates.add(text);
  }
  return [...templates];
}
