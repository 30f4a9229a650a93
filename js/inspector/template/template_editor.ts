import { isSessionError } from '../../errors/errors.js';
import type { LiveSession } from '../../live/index.js';
import type { Template } from '../../template/template.js';
import { useSettled, useStore } from '../view/hooks.js';
import { ErrorNote, Items, LongText } from '../view/parts.js';
import { h, useEffect, useMemo, useRef, useState, type VNode } from '../view/preact.js';
import { clip, visibleText } from '../view/text.js';
import { kindOf, piecesOf, type PlaceholderKind } from './highlight.js';

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
  const [make, setMake] = useState<((text: string) => Template) | undefined>(undefined);
  const [loadError, setLoadError] = useState<unknown>(undefined);
  useEffect(() => {
    // Loaded when it is needed, because a template needs the wasm, and a page over a server may have none.
    import('../../template/template.js').then(
      ({ Template }) => setMake(() => (text: string) => new Template(text)),
      setLoadError,
    );
  }, []);
  const found = useMemo(() => placeholdersIn(make, text), [make, text]);
  const rendered = useRendered(make, useSettled(text, 100), state);
  const names = new Map(found.map((placeholder) => [placeholder.name, placeholder]));
  return h('div', null, [
    h(HighlightedText, { text, onText, pieces: piecesOf(text, found), state }),
    h(ErrorNote, { error: loadError }),
    h('h2', null, 'Placeholders'),
    h(Items<[string, (typeof found)[number]]>, {
      items: [...names],
      children: ([name, placeholder]) => {
        const kind = kindOf(placeholder, state);
        return h('li', { key: name, class: `placeholder ${kind}` }, [
          h('code', null, h('bdi', null, clip(name, 200))),
          ` ${MEANINGS[kind]}`,
        ]);
      },
    }),
    h('h2', null, 'Rendered instruction'),
    rendered.text !== undefined && h(LongText, { text: rendered.text }),
    rendered.error !== undefined &&
      h('p', { class: 'error', role: 'status' }, visibleText(rendered.error)),
    rendered.missing.length > 0 && h('ul', { 'aria-label': 'Missing names' }, rendered.missing.map((name) =>
      h('li', { key: name }, h('code', null, h('bdi', null, clip(name, 200)))))), // prettier-ignore
  ]);
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
  return h('div', { class: 'highlighted' }, [
    h('pre', { 'aria-hidden': true, ref: marks }, [
      ...pieces.map(({ text, placeholder }) =>
        placeholder === undefined ? text : h('mark', { class: kindOf(placeholder, state) }, text),
      ),
      // A text area has a last line that is empty; without it, the marks would scroll less far.
      '\n ',
    ]),
    h('textarea', {
      'aria-label': 'Instruction template',
      placeholder: 'Greet {user:name?}.',
      rows: 6,
      spellcheck: false,
      value: text,
      onInput: (event) => onText(event.currentTarget.value),
      onScroll: ({ currentTarget }) => {
        if (marks.current !== null) marks.current.scrollTop = currentTarget.scrollTop;
      },
    }),
  ]);
}

function placeholdersIn(make: ((text: string) => Template) | undefined, text: string) {
  return make?.(text).placeholders ?? [];
}

interface Rendered {
  readonly text: string | undefined;
  readonly error: string | undefined;
  readonly missing: readonly string[];
}

function useRendered(
  make: ((text: string) => Template) | undefined,
  text: string,
  state: Readonly<Record<string, unknown>>,
): Rendered {
  const [rendered, setRendered] = useState<Rendered>({ text: '', error: undefined, missing: [] });
  useEffect(() => {
    let isCurrent = true;
    const show = (next: Rendered): void => {
      if (isCurrent) setRendered(next);
    };
    make?.(text)
      .render({ state })
      .then(
        (text) => show({ text, error: undefined, missing: [] }),
        (reason: unknown) => {
          const missing = isSessionError(reason, 'missing_variable') ? (reason.missing ?? []) : [];
          const names = new Set(missing.map(({ name }) => name));
          const error = reason instanceof Error ? reason.message : String(reason);
          show({ text: undefined, error, missing: [...names] });
        },
      );
    return () => (isCurrent = false);
  }, [make, text, state]);
  return rendered;
}
