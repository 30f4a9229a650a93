import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isShared } from '../../../values/state/scope.js';
import { useReading } from '../view/hooks.js';
import { Button, ErrorNote, JsonText } from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { clip, timeText } from '../view/text.js';
import { type StateKeyChange, type KeyHistory, readHistory } from './state_history.js';

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
  return (
    <div class="history">
      <h3>History</h3>
      <ErrorNote error={error} />
      <ol class="items">
        {history?.changes.map((change) => (
          <Change key={change.event.id} change={change} onShowEvent={onShowEvent} />
        ))}
      </ol>
      {history !== undefined && (
        <p class="muted" role="status">
          {countText(history, stateKey)}
        </p>
      )}
      {history?.before !== undefined && (
        <Button
          label="Read older events"
          isDisabled={isBusy}
          onClick={() => setShown({ value, history })}
        />
      )}
    </div>
  );
}

function Change(props: { change: StateKeyChange; onShowEvent: (eventId: string) => void }): VNode {
  const { event, before, isBeforeKnown, after } = props.change;
  return (
    <li>
      <div class="row">
        <bdi class="author">{clip(event.author ?? 'unknown', 60)}</bdi>
        <time>{timeText(event.timestamp)}</time>
        <Button label="Show event" onClick={() => props.onShowEvent(event.id)} />
      </div>
      <h4>Before</h4>
      {isBeforeKnown ? (
        <ValueOrNothing value={before} nothing="nothing" />
      ) : (
        <p class="muted">not known</p>
      )}
      <h4>After</h4>
      <ValueOrNothing value={after} nothing="removed" />
    </li>
  );
}

function ValueOrNothing({ value, nothing }: { value: unknown; nothing: string }): VNode {
  return value === undefined ? <p class="muted">{nothing}</p> : <JsonText value={value} />;
}

function countText({ changes, readCount, before }: KeyHistory, stateKey: string): string {
  const where = before === undefined ? 'all' : 'the newest';
  const others = isShared(stateKey) ? ' Other sessions can change this key too.' : '';
  return `${changes.length} changes in ${where} ${readCount.toLocaleString('en')} events.${others}`;
}
