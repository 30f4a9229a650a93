import type { Event } from '../../../values/model/event/event.js';
import { memo, type VNode } from '../view/preact.js';
import { summaryOf } from './event_summary.js';

/** A row of the timeline. */
export interface Row {
  readonly event: Event;
  /** Over a cache: whether the event waits for the remote, or was refused by it. */
  readonly mark?: 'waiting' | 'refused';
}

/**
 * The height of a row in CSS pixels. All rows have it, so that the place of each is known without rendering it:
 * `@tanstack/virtual-core` would make the inspector larger by 9 KB gzipped.
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
  return (
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      aria-posinset={number}
      aria-setsize={-1}
      class={`event ${author === 'user' ? 'of-user' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(event)}
    >
      <div class="event-head">
        <bdi class="author">{author}</bdi>
        {tools.map(({ kind, name }) =>
          kind === 'call' ? (
            <Chip kind={kind} sign="→" word="calls" text={name} />
          ) : (
            <Chip kind={kind} sign="←" word="result of" text={name} />
          ),
        )}
        {changedKeys.length > 0 && (
          <Chip kind="change" sign="Δ" word="changed keys:" text={`${changedKeys.length}`} />
        )}
        {error !== undefined && <Chip kind="failed" sign="!" word="error:" text={error} />}
        {mark !== undefined && <Chip kind="mark" sign="…" word="" text={mark} />}
        <time>{new Date(event.timestamp).toLocaleTimeString()}</time>
      </div>
      <div class="event-text" dir="auto">
        {text}
      </div>
    </div>
  );
});

/** Shows a sign. Screen readers read a word in its place. */
function Chip(props: { kind: string; sign: string; word: string; text: string }): VNode {
  const { kind, sign, word, text } = props;
  return (
    <bdi class={`chip ${kind}`}>
      <span aria-hidden>{sign}</span>
      <span class="heard"> {word}</span> {text}
    </bdi>
  );
}
