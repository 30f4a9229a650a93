// The messages of a conversation, with what a guest may do with them.

import type { Content, Event, Part } from 'adk-session-wasm';
import { type LiveSession, shownOf } from 'adk-session-wasm/live';
import { element, iconButton } from '../page/element.js';
import { foldParts, type FoldedParts, toolLine } from './tools.js';

export type Branches = Awaited<ReturnType<LiveSession['branches']>>;
type Alternatives = Branches[number]['alternatives'];

export interface MessageActions {
  readonly edit: (event: Event) => void;
  readonly regenerate: (event: Event) => void;
  /** Begins another conversation with the events up to this one. */
  readonly fork: (event: Event) => void;
  readonly switchBranch: (branch: string) => void;
}

export function textOf(content: Content | undefined): string {
  return content?.parts?.map(({ text = '' }) => text).join(' ') ?? '';
}

/** Returns the elements of events. The first one of a turn with alternatives has arrows. */
export function itemsOf(
  events: readonly Event[],
  branches: Branches,
  actions: MessageActions,
): HTMLLIElement[] {
  const alternativesOf = new Map<string, Alternatives>();
  for (const { alternatives } of branches) {
    const shown = alternatives.find(({ isShown }) => isShown);
    if (shown !== undefined) alternativesOf.set(shown.invocationId, alternatives);
  }
  const foldedParts = foldParts(events);
  let before: Event | undefined;
  return events.flatMap((event) => {
    const parts = (event.content?.parts ?? []).filter((part) => !foldedParts.folded.has(part));
    if (parts.length === 0 && shownOf(event).error === undefined) return [];
    const item = itemOf(event, parts, foldedParts, actions);
    const isContinued = before?.author === event.author && before?.invocationId === event.invocationId; // prettier-ignore
    item.classList.toggle('continued', isContinued);
    before = event;
    const alternatives = alternativesOf.get(event.invocationId);
    alternativesOf.delete(event.invocationId);
    showArrows(item, alternatives, actions);
    return [item];
  });
}

/** An event that has not changed is the same object, and keeps its element until a tool answers. */
const madeItems = new WeakMap<Event, { readonly item: HTMLLIElement; readonly answers: number }>();

function itemOf(
  event: Event,
  parts: readonly Part[],
  { responses }: FoldedParts,
  actions: MessageActions,
): HTMLLIElement {
  const answers = parts.filter((part) => responses.has(part)).length;
  const made = madeItems.get(event);
  if (made?.answers === answers) return made.item;
  const { author = '', partial = false } = event;
  const { error } = shownOf(event);
  const kind = partial ? 'draft' : 'stored';
  const from = author === 'user' ? 'guest' : 'agent';
  const item = element(
    'li',
    { className: `${kind} ${from}` },
    element('b', { textContent: author }),
    ...parts.map((part) =>
      part.functionCall === undefined && part.functionResponse === undefined
        ? element('span', { className: 'text', textContent: part.text ?? '' })
        : toolLine(part, responses.get(part)),
    ),
    ...(error ? [element('em', { textContent: error.message })] : []),
  );
  item.dataset.event = event.id;
  // A draft grows with each piece: a screen reader says the whole text once, when it is stored.
  if (partial) item.ariaHidden = 'true';
  else if (parts.some(({ text }) => text !== undefined)) item.append(toolbar(event, actions));
  madeItems.set(event, { item, answers });
  return item;
}

function toolbar(event: Event, actions: MessageActions): HTMLElement {
  const { author = '', content } = event;
  const what = author === 'user' ? 'the message' : `the answer of ${author}`;
  const copy = iconButton('copy', `Copy ${what}`, () => {
    void navigator.clipboard?.writeText(textOf(content)).then(() => {
      copy.classList.add('done');
      setTimeout(() => copy.classList.remove('done'), 1500);
    });
  });
  return element(
    'span',
    { className: 'actions' },
    ...(author === 'user'
      ? [iconButton('edit', 'Edit the message', () => actions.edit(event))]
      : []),
    iconButton('again', 'Answer again', () => actions.regenerate(event)),
    iconButton('branch', 'New conversation from here', () => actions.fork(event)),
    copy,
  );
}

function showArrows(
  item: HTMLLIElement,
  alternatives: Alternatives | undefined,
  { switchBranch }: MessageActions,
): void {
  item.querySelector('.arrows')?.remove();
  if (alternatives === undefined) return;
  const shown = alternatives.findIndex(({ isShown }) => isShown);
  const arrow = (className: string, label: string, at: number): HTMLButtonElement => {
    const branch = alternatives[at]?.branch;
    const button = iconButton(className, label, () => void (branch && switchBranch(branch)));
    button.disabled = branch === undefined;
    return button;
  };
  item.append(
    element(
      'small',
      { className: 'arrows' },
      arrow('previous', 'Previous version', shown - 1),
      `${shown + 1}/${alternatives.length}`,
      arrow('next', 'Next version', shown + 1),
    ),
  );
}
