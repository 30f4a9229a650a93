// The messages of a conversation, with what a guest may do with them.

import type { Content, Event, Part } from 'adk-session-wasm';
import type { LiveSession } from 'adk-session-wasm/live';
import { element } from './page/element.js';

export type Branches = Awaited<ReturnType<LiveSession['branches']>>;
type Alternatives = Branches[number]['alternatives'];

export interface MessageActions {
  readonly edit: (event: Event) => void;
  readonly regenerate: (event: Event) => void;
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
  return events.flatMap((event) => {
    const parts = event.content?.parts ?? [];
    if (parts.length === 0) return [];
    const item = itemOfEvent.get(event) ?? itemOf(event, parts, actions);
    itemOfEvent.set(event, item);
    const alternatives = alternativesOf.get(event.invocationId);
    alternativesOf.delete(event.invocationId);
    showArrows(item, alternatives, actions);
    return [item];
  });
}

/** An event that has not changed is the same object, and keeps its element. */
const itemOfEvent = new WeakMap<Event, HTMLLIElement>();

function itemOf(event: Event, parts: readonly Part[], actions: MessageActions): HTMLLIElement {
  const { author = '', partial = false } = event;
  const kind = partial ? 'draft' : 'stored';
  const from = author === 'user' ? 'guest' : 'agent';
  const isMessage = author === 'user' && parts.some(({ text }) => text !== undefined);
  return element(
    'li',
    { className: `${kind} ${from}` },
    element('b', { textContent: author }),
    ...(isMessage
      ? [
          toolButton('edit', 'Edit the message', () => actions.edit(event)),
          toolButton('again', 'Answer again', () => actions.regenerate(event)),
        ]
      : []),
    ...parts.map((part) => element('span', spanOf(part))),
  );
}

/** A button whose sign comes from the style sheet. */
function toolButton(className: string, label: string, onclick: () => void): HTMLButtonElement {
  return element('button', { type: 'button', className, ariaLabel: label, title: label, onclick });
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
    const button = toolButton(className, label, () => void (branch && switchBranch(branch)));
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

function spanOf({ text, functionCall, functionResponse }: Part) {
  if (functionCall !== undefined) {
    const { name = '', args = {} } = functionCall;
    return { className: 'tool', textContent: `calls ${name} ${JSON.stringify(args)}` };
  }
  if (functionResponse !== undefined) {
    const { name = '', response = {} } = functionResponse;
    return { className: 'tool', textContent: `${name} returns ${JSON.stringify(response)}` };
  }
  return { textContent: text ?? '' };
}
