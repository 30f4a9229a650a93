import type { Placeholder } from '../../../service/template/scanner.js';

/** A piece of a template's text: a placeholder, or the text between two. */
export interface Piece {
  readonly text: string;
  readonly placeholder: Placeholder | undefined;
}

/** Cuts a template into its placeholders and the texts between them. The pieces joined are the template. */
export function piecesOf(text: string, placeholders: readonly Placeholder[]): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const placeholder of placeholders) {
    const { start } = placeholder;
    if (start > end) pieces.push({ text: text.slice(end, start), placeholder: undefined });
    pieces.push({ text: text.slice(start, placeholder.end), placeholder });
    end = placeholder.end;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), placeholder: undefined });
  return pieces;
}

/** What a placeholder prints: a value, nothing, or an error because there is no value. */
export type PlaceholderKind = 'set' | 'empty' | 'missing' | 'artifact';

export function kindOf({ name, kind, optional }: Placeholder, state: object): PlaceholderKind {
  if (kind === 'artifact') return 'artifact';
  if (Object.hasOwn(state, name)) return 'set';
  return optional ? 'empty' : 'missing';
}

/** Returns the placeholders by how they are written, each once: `{a}` and `{a?}` differ without a value. */
export function distinctOf(placeholders: readonly Placeholder[]): Map<string, Placeholder> {
  return new Map(placeholders.map((found) => [found.name + (found.optional ? '?' : ''), found]));
}
