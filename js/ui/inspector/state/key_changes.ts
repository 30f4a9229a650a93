import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isShared } from '../../../values/state/scope.js';
import { useReading } from '../view/hooks.js';
import { Button, ErrorNote, JsonText } from '../view/parts.js';
import { h, useState, type VNode } from '../view/preact.js';
import { clip, timeText } from '../view/text.js';
import { type KeyChange, type KeyHistory, readHistory } from './state_history.js';

interface KeyChangesProps {
  service: GivenService<SessionService>;
  sessionKey: CompositeSessionKey;
  stateKey: string;
  /** The value now. A new one begins the history again. */
  value: unknown;
  onShowEvent: (eventId: string) => void;
}

/** Which events changed a key of the state, and from which value to which. */
export function KeyChanges(props: KeyChangesProps): VNode {
  const { service, sessionKey, stateKey, value, onShowEvent } = props;
  const { appName, userId, sessionId } = sessionKey;
  /** The history that is continued. Another value begins a new one. */
  const [shown, setShown] = useState<{ value: unknown; history: KeyHistory } | undefined>(
    undefined,
  );
  const earlier = shown !== undefined && Object.is(shown.value, value) ? shown.history : undefined;
  const inputs = [service, appName, userId, sessionId, stateKey, value, earlier];
  const {
    value: history,
    error,
    isBusy,
  } = useReading(async () => readHistory(await service, sessionKey, stateKey, earlier), inputs);
  return h('div', { class: 'history' }, [
    h('h3', null, 'History'),
    h(ErrorNote, { error }),
    h(
      'ol',
      { class: 'items' },
      history?.changes.map((change) => h(Change, { key: change.event.id, change, onShowEvent })),
    ),
    history !== undefined &&
      h('p', { class: 'muted', role: 'status' }, countText(history, stateKey)),
    history?.before !== undefined &&
      h(Button, {
        label: 'Read older events',
        isDisabled: isBusy,
        onClick: () => setShown({ value, history }),
      }),
  ]);
}

function Change(props: { change: KeyChange; onShowEvent: (eventId: string) => void }): VNode {
  const { event, before, isBeforeKnown, after } = props.change;
  return h('li', null, [
    h('div', { class: 'row' }, [
      h('bdi', { class: 'author' }, clip(event.author ?? 'unknown', 60)),
      h('time', null, timeText(event.timestamp)),
      h(Button, { label: 'Show event', onClick: () => props.onShowEvent(event.id) }),
    ]),
    h('h4', null, 'Before'),
    isBeforeKnown
      ? h(ValueOrNothing, { value: before, nothing: 'nothing' })
      : h('p', { class: 'muted' }, 'not known'),
    h('h4', null, 'After'),
    h(ValueOrNothing, { value: after, nothing: 'removed' }),
  ]);
}

function ValueOrNothing({ value, nothing }: { value: unknown; nothing: string }): VNode {
  return value === undefined ? h('p', { class: 'muted' }, nothing) : h(JsonText, { value });
}

function countText({ changes, readCount, before }: KeyHistory, stateKey: string): string {
  const where = before === undefined ? 'all' : 'the newest';
  const others = isShared(stateKey) ? ' Other sessions can change this key too.' : '';
  return `${changes.length} changes in ${where} ${readCount.toLocaleString('en')} events.${others}`;
}
