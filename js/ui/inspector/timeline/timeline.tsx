import type { Event } from '../../../values/model/event/event.js';
import type { LiveSession, LiveSessionSnapshot } from '../../live/index.js';
import { useMeasured, useStore, nextPosition } from '../view/hooks.js';
import { Button, ErrorNote } from '../view/parts.js';
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type VNode,
  memo,
} from '../view/preact.js';
import { summaryOf } from './event_summary.js';
import type { EventWindow, JumpTarget, WindowSnapshot } from './event_window.js';

/** Rows that are rendered above and below those in sight, and rows from an end of the window at which more are read. */
const BESIDE = 8;
const AHEAD = 100;

/** `toLocaleString` makes a format at each call, and the status is rendered in each frame of scrolling. */
const NUMBERS = new Intl.NumberFormat('en');

interface TimelineProps {
  live: LiveSession;
  events: EventWindow;
  selected: Event | undefined;
  /** Whether undone events and markers are listed too. */
  isRaw: boolean;
  onRaw: (isRaw: boolean) => void;
  /** @param event absent if the selected event is gone */
  onSelect: (event: Event | undefined) => void;
}

/** The conversation: the rows in sight of the events that the window holds. */
export function Timeline(props: TimelineProps): VNode {
  const { live, events: window, selected, isRaw, onRaw, onSelect } = props;
  const session = useStore(live);
  const shown = useStore(window);
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const height = useMeasured(box, 600, ({ clientHeight }) => clientHeight);
  /** The row that a key press waits for, because its end of the session is read first. */
  const awaited = useRef<JumpTarget | undefined>(undefined);
  const rows = useMemo(() => rowsOf(shown, session), [shown, session.unsent, session.status]);
  const inSight = Math.ceil(height / ROW_HEIGHT);

  useEffect(() => {
    if (session.status === 'ready') window.follow(recentOf(session));
  }, [window, session.pages, session.status, shown.status === 'ready']);

  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    const top = Math.floor(element.scrollTop / ROW_HEIGHT);
    setFirst(top);
    if (top < AHEAD) void window.loadOlder();
    if (top + inSight > rows.length - AHEAD) void window.loadNewer();
  };
  useScroll(box, shown, rows.length, look);

  useEffect(() => {
    const current = rows.find(({ event }) => event.id === selected?.id);
    const isWhole = shown.status === 'ready' && !shown.hasOlder && !shown.hasNewer;
    if (current !== undefined) {
      if (current.event !== selected) onSelect(current.event);
    } else if (selected !== undefined && (isWhole || isGone(session))) onSelect(undefined);
    if (shown.status !== 'ready' || awaited.current !== shown.target) return;
    awaited.current = undefined;
    const end = shown.target === 'oldest' ? rows[0] : rows.at(-1);
    if (end !== undefined) onSelect(end.event);
  });

  const selectedAt = rows.findIndex(({ event }) => event.id === selected?.id);
  const jump = (target: JumpTarget, isKey = false): void => {
    if (isKey) awaited.current = target;
    void window.open(target);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = selectedAt < 0 && event.key.startsWith('Arrow') ? first - 1 : selectedAt;
    const position = nextPosition(event.key, from, rows.length, Math.max(1, inSight - 1));
    if (position === undefined) return;
    event.preventDefault();
    if (event.key === 'Home' && shown.hasOlder) return jump('oldest', true);
    if (event.key === 'End' && shown.hasNewer) return jump('newest', true);
    const row = rows[position];
    if (row === undefined) return;
    onSelect(row.event);
    bring(box.current, position);
  };

  const from = Math.max(0, first - BESIDE);
  const rendered = rows.slice(from, first + inSight + BESIDE);
  const isRendered = selectedAt >= from && selectedAt < from + rendered.length;
  return (
    <div class="timeline">
      <div class="row toolbar">
        <Button label="Oldest" isDisabled={!shown.hasOlder} onClick={() => jump('oldest')} />
        <Button label="Newest" isDisabled={!shown.hasNewer} onClick={() => jump('newest')} />
        <label class="row" title="Also undone events, and the markers of rewinds">
          <input
            type="checkbox"
            checked={isRaw}
            onChange={(event) => onRaw(event.currentTarget.checked)}
          />
          <span>All events</span>
        </label>
        <span class="muted" role="status">
          {statusText(shown, session)}
        </span>
      </div>
      <ErrorNote error={isGone(session) ? undefined : (shown.error ?? session.error)} />
      <div
        class="events"
        role="listbox"
        tabIndex={0}
        aria-label="Events"
        aria-busy={shown.status === 'loading'}
        aria-activedescendant={isRendered ? `event-${selectedAt + shown.firstNumber}` : undefined}
        ref={box}
        onKeyDown={onKeyDown}
        onScroll={look}
      >
        <div
          class="events-space"
          role="presentation"
          style={{ height: `${rows.length * ROW_HEIGHT}px` }}
        >
          {rendered.map(({ event, mark }, offset) => {
            const position = from + offset;
            return (
              <EventRow
                key={event.id}
                event={event}
                mark={mark}
                id={`event-${position + shown.firstNumber}`}
                top={position * ROW_HEIGHT}
                isSelected={event.id === selected?.id}
                number={shown.isCounted ? shown.firstNumber + position : undefined}
                onSelect={onSelect}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Keeps what is in sight where it is while events come before it, and follows the end. */
function useScroll(
  box: { readonly current: HTMLDivElement | null },
  { jump, status, target, events, firstNumber }: WindowSnapshot,
  length: number,
  look: () => void,
): void {
  const last = useRef({ jump: -1, firstNumber: 0, length: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || status !== 'ready') return;
    const before = last.current;
    last.current = { jump, firstNumber, length };
    const end = Math.max(0, before.length * ROW_HEIGHT - element.clientHeight);
    if (before.jump !== jump) {
      const at =
        typeof target === 'object' ? events.findIndex(({ id }) => id === target.eventId) : 0;
      element.scrollTop =
        target === 'newest' ? length * ROW_HEIGHT : Math.max(0, at - 1) * ROW_HEIGHT;
    } else if (before.firstNumber !== firstNumber) {
      element.scrollTop += (before.firstNumber - firstNumber) * ROW_HEIGHT;
    } else if (length > before.length && element.scrollTop >= end - ROW_HEIGHT) {
      element.scrollTop = length * ROW_HEIGHT;
    } else if (length === before.length) {
      return;
    }
    look();
  }, [jump, status, firstNumber, length]);
}

/** Scrolls a row into sight, no further than necessary. */
function bring(box: HTMLElement | null, position: number): void {
  if (box === null) return;
  const top = position * ROW_HEIGHT;
  const bottom = top + ROW_HEIGHT - box.clientHeight;
  box.scrollTop = Math.min(top, Math.max(bottom, box.scrollTop));
}

/** The events at the end of the session, as far as a live store has them. */
function recentOf({ pages }: LiveSessionSnapshot): Event[] {
  return pages.slice(-3).flat();
}

function isGone({ status }: LiveSessionSnapshot): boolean {
  return status === 'missing' || status === 'deleted';
}

function rowsOf({ events }: WindowSnapshot, session: LiveSessionSnapshot): Row[] {
  if (isGone(session)) return [];
  const { unsent } = session;
  return events.map((event): Row => {
    const state = Object.hasOwn(unsent, event.id) ? unsent[event.id] : undefined;
    if (state === undefined) return { event };
    return { event, mark: state.error === undefined ? 'waiting' : 'refused' };
  });
}

function statusText(
  { status, events, firstNumber, isCounted, eventCount }: WindowSnapshot,
  session: LiveSessionSnapshot,
): string {
  if (session.status === 'missing') return 'There is no such session yet.';
  if (session.status === 'deleted') return 'The session was deleted.';
  if (status === 'loading') return 'Reading…';
  const count = eventCount === undefined ? '' : ` of ${NUMBERS.format(eventCount)}`;
  if (!isCounted || events.length === 0) return `${events.length} events held${count}`;
  const last = firstNumber + events.length - 1;
  return `Events ${NUMBERS.format(firstNumber)} to ${NUMBERS.format(last)}${count}`;
}

/** A row of the timeline. */
interface Row {
  readonly event: Event;
  /** Over a cache: whether the event waits for the remote, or was refused by it. */
  readonly mark?: 'waiting' | 'refused';
}

/**
 * The height of a row in CSS pixels. All rows have it, so that the place of each is known without rendering it:
 * `@tanstack/virtual-core` would make the inspector larger by 9 KB gzipped.
 */
const ROW_HEIGHT = 64;

/** One event in the list. While the list scrolls, only the rows that come into sight are rendered. */
const EventRow = memo(function (props: {
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
