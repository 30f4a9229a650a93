import type { Event } from '../../../values/model/event/event.js';
import { h, memo, type VNode } from '../view/preact.js';
import { summaryOf } from './event_summary.js';

/** A row of the timeline. */
export interface Row {
  readonly event: Event;
  /** Over a cache: whether the event waits for the remote, or was refused by it. */
  readonly mark?: 'waiting' | 'refused';
}

/**
 * The height of a row in CSS pixels. All rows have it, so that the place of each is known without rendering it: a library
 * that measures rows would make the inspector larger by 10 KB gzipped.
 */
export const ROW_HEIGHT = 64;

/** One event in the list. While the list scrolls, only the rows that come into sight are rendered. */
export const EventRow = memo(function (props: {
  event: Event;
  mark: Row['mark'];
  id: string;
  top: number;
  isSelected: boolean;
  number: number | undefined;
  onSelect: (event: Event) => void;
}): VNode {
  const { event, mark, id, top, isSelected, number, onSelect } = props;
  const { author, text, tools, changedKeys, error } = summaryOf(event);
  return h(
    'div',
    {
      id,
      role: 'option',
      'aria-selected': isSelected,
      'aria-posinset': number,
      'aria-setsize': -1,
      class: `event ${author === 'user' ? 'of-user' : ''}`,
      style: { transform: `translateY(${top}px)` },
      onClick: () => onSelect(event),
    },
    [
      h('div', { class: 'event-head' }, [
        h('bdi', { class: 'author' }, author),
        tools.map(({ kind, name }) =>
          kind === 'call'
            ? h(Chip, { kind, sign: '→', word: 'calls', text: name })
            : h(Chip, { kind, sign: '←', word: 'result of', text: name }),
        ),
        changedKeys.length > 0 &&
          h(Chip, {
            kind: 'change',
            sign: 'Δ',
            word: 'changed keys:',
            text: `${changedKeys.length}`,
          }),
        error !== undefined && h(Chip, { kind: 'failed', sign: '!', word: 'error:', text: error }),
        mark !== undefined && h(Chip, { kind: 'mark', sign: '…', word: '', text: mark }),
        h('time', null, new Date(event.timestamp).toLocaleTimeString()),
      ]),
      h('div', { class: 'event-text', dir: 'auto' }, text),
    ],
  );
});

/** Shows a sign. Screen readers read a word in its place. */
function Chip(props: { kind: string; sign: string; word: string; text: string }): VNode {
  const { kind, sign, word, text } = props;
  return h('bdi', { class: `chip ${kind}` }, [
    h('span', { 'aria-hidden': true }, sign),
    h('span', { class: 'heard' }, ` ${word}`),
    ` ${text}`,
  ]);
}
