import { loadChunk } from '../../core/wasm/loader/chunk.js';
import type { Placeholder } from '../../service/template/scanner.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { LiveSession } from '../live/index.js';
import { useReading, useSettled, useStore } from './view/hooks.js';
import { ErrorNote, Items, LongText, Name } from './view/parts.js';
import { useMemo, useRef, type VNode } from './view/preact.js';
import { errorWithMessage, visibleText } from './view/text.js';

const MEANINGS: Readonly<Record<PlaceholderKind, string>> = {
  set: 'has a value',
  empty: 'has no value and prints nothing',
  missing: 'has no value: an error',
  artifact: 'an artifact, which the inspector does not load',
};

/** An instruction template over the state of a session: its placeholders, and what it renders to. */
export function TemplateEditor(props: {
  live: LiveSession;
  text: string;
  onText: (text: string) => void;
}): VNode {
  const { live, text, onText } = props;
  const { state } = useStore(live);
  // Loaded when it is needed, because a template needs the wasm, and a page over a server may have none.
  const library = useReading(
    () => loadChunk(() => import('../../service/template/template.js')),
    [],
  );
  const Template = library.value?.Template;
  const found = useMemo(
    () => (Template === undefined ? [] : new Template(text).placeholders),
    [Template, text],
  );
  const settled = useSettled(text, 100);
  const { value: rendered = '', error } = useReading(
    async () => (Template === undefined ? '' : new Template(settled).render({ state })),
    [Template, settled, state],
  );
  const missing = isSessionError(error, 'missing_variable') ? (error.missing ?? []) : [];
  const missingNames = [...new Set(missing.map(({ name }) => name))];
  return (
    <div>
      <HighlightedText text={text} onText={onText} pieces={piecesOf(text, found)} state={state} />
      <ErrorNote error={library.error} />
      <h2>Placeholders</h2>
      <Items<[string, (typeof found)[number]]> items={[...distinctOf(found)]}>
        {([name, placeholder]) => {
          const kind = kindOf(placeholder, state);
          return (
            <li key={name} class={`placeholder ${kind}`}>
              <Name name={name} /> {MEANINGS[kind]}
            </li>
          );
        }}
      </Items>
      <h2>Rendered instruction</h2>
      {error === undefined ? (
        <LongText text={rendered} />
      ) : (
        <p class="error" role="status">
          {visibleText(errorWithMessage(error))}
        </p>
      )}
      {missing.length > 0 && (
        <ul aria-label="Missing names">
          {missingNames.map((name) => (
            <li key={name}>
              <Name name={name} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A text area with its placeholders marked: the marks lie behind it, in the same font and place. */
function HighlightedText(props: {
  text: string;
  onText: (text: string) => void;
  pieces: ReturnType<typeof piecesOf>;
  state: object;
}): VNode {
  const { text, onText, pieces, state } = props;
  const marks = useRef<HTMLPreElement>(null);
  return (
    <div class="highlighted">
      <pre aria-hidden ref={marks}>
        {pieces.map(({ text, placeholder }) =>
          placeholder === undefined ? text : <mark class={kindOf(placeholder, state)}>{text}</mark>,
        )}
        {/* A text area has a last line that is empty; without it, the marks would scroll less far. */}
        {'\n '}
      </pre>
      <textarea
        aria-label="Instruction template"
        placeholder="Greet {user:name?}."
        rows={6}
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (marks.current !== null) marks.current.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

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
