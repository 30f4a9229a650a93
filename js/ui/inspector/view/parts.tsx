import { type ComponentChildren, useState, type VNode, useRef } from './preact.js';
import { clip, errorWithMessage, jsonText, visibleText } from './text.js';

/** The characters of a long text that are shown at first, and the factor by which each step shows more. */
const FIRST_LENGTH = 2000;
const MORE = 10;

/** A stored text. A long one is shown in steps. */
export function LongText({ text }: { text: string }): VNode {
  const [length, setLength] = useState(FIRST_LENGTH);
  const isCut = text.length > length;
  return (
    <div>
      <pre class="text" dir="auto">
        {visibleText(isCut ? text.slice(0, length) : text)}
      </pre>
      {isCut && (
        <Button
          label={`Show more of ${text.length.toLocaleString('en')} characters`}
          onClick={() => setLength(length * MORE)}
        />
      )}
    </div>
  );
}

/** A stored value as JSON. */
export function JsonText({ value }: { value: unknown }): VNode {
  return <LongText text={jsonText(value, 2)} />;
}

/** The name of a key of the state, or of a placeholder. */
export function Name({ name }: { name: string }): VNode {
  return (
    <code>
      <bdi>{clip(name, 200)}</bdi>
    </code>
  );
}

/** A list of names with their values; what is absent is left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, unknown>> }): VNode {
  return (
    <dl class="facts">
      {Object.entries(facts).map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{visibleText(value)}</bdi>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A button. Without `onClick` it submits its form. */
export function Button(props: {
  label: string;
  onClick?: () => void;
  /** What screen readers say in place of the label. */
  spoken?: string;
  isDisabled?: boolean;
  isExpanded?: boolean;
  isDanger?: boolean;
  takesFocus?: boolean;
}): VNode {
  const { label, onClick, spoken, isDisabled, isExpanded, isDanger, takesFocus } = props;
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={isDanger === true ? 'danger' : undefined}
      disabled={isDisabled}
      aria-label={spoken}
      aria-expanded={isExpanded}
      ref={takesFocus === true ? focus : null}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

/** An error, told to screen readers at once; nothing without one. */
export function ErrorNote({ error }: { error: unknown }): VNode | null {
  return error === undefined ? null : (
    <p class="error" role="alert">
      {visibleText(errorWithMessage(error))}
    </p>
  );
}

/** A labelled input of one line. */
export function Field(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
  list?: readonly string[];
}): VNode {
  const { label, value, onValue, hint, list } = props;
  const listId = `list-${label.replace(/\W+/g, '-')}`;
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        value={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        list={list === undefined ? undefined : listId}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {list !== undefined && (
        <datalist id={listId}>
          {list.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** A button that asks once more before it does anything. */
export function ConfirmButton(props: {
  label: string;
  question: string;
  isDisabled?: boolean;
  onConfirm: () => void;
}): VNode {
  const { label, question, isDisabled = false, onConfirm } = props;
  const [isAsking, setAsking] = useState(false);
  if (!isAsking) {
    return (
      <Button label={label} isDisabled={isDisabled} isDanger onClick={() => setAsking(true)} />
    );
  }
  return (
    <span role="group" aria-label={question} class="row">
      <span>{question}</span>
      <Button label={label} isDanger takesFocus onClick={onConfirm} />
      <Button label="Cancel" onClick={() => setAsking(false)} />
    </span>
  );
}

/** Moves the focus to an element that takes the place of the focused one, and selects its text. */
export function focus(element: HTMLElement | null): void {
  element?.focus();
  if (element instanceof HTMLTextAreaElement) element.select();
}

/** The first items of a long list, and a button for more. */
export function Items<Item>(props: {
  items: readonly Item[];
  children: (item: Item) => ComponentChildren;
}): VNode {
  const [count, setCount] = useState(100);
  const { items, children } = props;
  return (
    <div>
      <ul class="items">{items.slice(0, count).map(children)}</ul>
      {items.length > count && (
        <Button label={`Show more of ${items.length}`} onClick={() => setCount(count * 2)} />
      )}
    </div>
  );
}

/** A tab: its id and what it is called. */
export interface Tab<Id extends string = string> {
  readonly id: Id;
  readonly label: string;
}

/** A list of tabs. The arrow keys, Home and End move between them. */
export function TabList<Id extends string>(props: {
  label: string;
  tabs: readonly Tab<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
}): VNode {
  const { label, tabs, selected, onSelect } = props;
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const position = tabs.findIndex(({ id }) => id === selected);
    const moves = new Map([
      ['ArrowLeft', position - 1],
      ['ArrowRight', position + 1],
      ['Home', 0],
      ['End', -1],
    ]);
    const move = moves.get(event.key);
    const tab = move === undefined ? undefined : tabs.at(move % tabs.length);
    if (tab === undefined) return;
    event.preventDefault();
    onSelect(tab.id);
    list.current?.querySelector<HTMLElement>(`#tab-${tab.id}`)?.focus();
  };
  return (
    <div role="tablist" aria-label={label} class="tabs" ref={list} onKeyDown={onKeyDown}>
      {tabs.map(({ id, label }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          aria-selected={id === selected}
          aria-controls={id === selected ? `panel-${id}` : undefined}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** The attributes of the panel of a tab. */
export function panelOf(id: string): {
  id: string;
  role: 'tabpanel';
  'aria-labelledby': string;
  tabIndex: number;
} {
  return { id: `panel-${id}`, role: 'tabpanel', 'aria-labelledby': `tab-${id}`, tabIndex: 0 };
}
