// The view beside the chat: what the agents know, and what they were told, at any event.

import type { LiveSession, LiveSessionSnapshot } from 'adk-session-wasm/live';
import { element, pageElement, report } from '../page/element.js';
import { knowledgeOf } from './knowledge.js';
import { type Moment, momentAt } from './moment.js';
import { toldAt } from './told.js';

const knows = pageElement('div', 'knows');
const told = pageElement('p', 'told');
const teller = pageElement('h2', 'teller');
const slider = pageElement('input', 'event');
const place = pageElement('output', 'place');
const now = pageElement('button', 'now');
const messages = pageElement('ol', 'messages');

let chat: LiveSession | undefined;
/** The event that the user looks at; `undefined`: the last one, now. */
let chosen: string | undefined;

/** Lets the user go back in time. */
export function startAgentView(): void {
  slider.addEventListener('input', () => {
    const events = chat?.getSnapshot().events ?? [];
    const position = Number(slider.value) - 1;
    chosen = position < events.length - 1 ? events[position]?.id : undefined;
    show();
  });
  now.addEventListener('click', () => {
    chosen = undefined;
    show();
    slider.focus();
  });
  pageElement('form', 'settings').addEventListener('input', show);
}

/** Shows a conversation. Returns what ends that. */
export function viewAgents(opened: LiveSession): () => void {
  chat = opened;
  chosen = undefined;
  return opened.subscribe(show);
}

function show(): void {
  if (chat === undefined) return;
  const shown = chat;
  const snapshot = shown.getSnapshot();
  const { events, drafts } = snapshot;
  const found = events.findIndex(({ id }) => id === chosen);
  // What the user looks at may have been undone.
  if (found < 0) chosen = undefined;
  const position = found < 0 ? events.length - 1 : found;
  showPlace(snapshot, position);
  // An answer that streams in changes no state.
  if (drafts.length > 0 && chosen === undefined) return;
  momentAt(shown, snapshot, position).then(
    (moment) => {
      if (chat === shown && shown.getSnapshot() === snapshot && isShown(events, position))
        showMoment(moment);
    },
    (error: unknown) => {
      if (chat === shown && shown.getSnapshot() === snapshot) report(error);
    },
  );
}

function isShown(events: LiveSessionSnapshot['events'], position: number): boolean {
  return chosen === undefined ? position === events.length - 1 : events[position]?.id === chosen;
}

function showMoment(moment: Moment): void {
  knows.replaceChildren(...knowledgeOf(moment));
  told.replaceChildren(...toldAt(moment));
  const { agent, isAnswer } = moment;
  const name = element('em', { textContent: agent?.name ?? 'the agent' });
  teller.replaceChildren('What ', name, isAnswer ? ' was told' : ' will be told');
}

/** Moves the slider, and marks the place in the chat. */
function showPlace({ events }: LiveSessionSnapshot, position: number): void {
  slider.max = String(Math.max(events.length, 1));
  slider.value = String(position + 1);
  slider.disabled = events.length < 2;
  const author = events[position]?.author ?? '';
  const isNow = chosen === undefined;
  place.textContent = events.length === 0 ? 'No events yet' : `Event ${position + 1} of ${events.length}`; // prettier-ignore
  slider.ariaValueText = `${place.textContent}, ${isNow ? 'now' : author}`;
  now.hidden = isNow;
  const order = new Map(events.map(({ id }, index) => [id, index]));
  for (const item of messages.querySelectorAll<HTMLElement>('[data-event]')) {
    const index = order.get(item.dataset.event ?? '') ?? Infinity;
    item.classList.toggle('later', !isNow && index > position);
    if (!isNow && index === position) item.scrollIntoView({ block: 'nearest' });
  }
}
