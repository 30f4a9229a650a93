import { useRef, type VNode } from './preact.js';

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
