/** The changes of one key of the state, read from the events. */
import type { GivenService } from '../../../core/call/given_service.js';
import { readInitialState } from '../../../core/core_of.js';
import { isFilled, rewindTargetOf } from '../../../values/model/event/markers.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { isShared, REMOVED } from '../../../values/state/scope.js';
import { useReading } from '../view/hooks.js';
import { Button, ErrorNote, JsonText } from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { clip, timeText } from '../view/text.js';

/** The events of a read, and the most events that one call reads. */
const PAGE = 500;
const MOST = 5000;

/** One change of a key of the state. */
interface StateKeyChange {
  readonly event: Pick<Event, 'id' | 'author' | 'timestamp'>;
  /** The value that the event set; `undefined` if it removed the key. */
  readonly after: unknown;
  /** The value before, as far as this session tells; `undefined` if there was none. */
  readonly before: unknown;
  /** Whether `before` is known. */
  readonly isBeforeKnown: boolean;
}

/** An event that was read, so far as its key tells: the newest of them has the index 0. */
interface FoundChange {
  readonly event: StateKeyChange['event'];
  readonly index: number;
  /** What the delta of the event says. */
  readonly after: unknown;
  /** The invocation that the event rewinds. */
  readonly rewinds: string | undefined;
}

/** The changes of a key of the state that a session's events show. */
interface KeyHistory {
  /** The newest first. */
  readonly changes: readonly StateKeyChange[];
  /** The number of events that were read. */
  readonly readCount: number;
  readonly found: readonly FoundChange[];
  /** For each invocation the index of the oldest event that was read. */
  readonly starts: ReadonlyMap<string, number>;
  /** The cursor before which there are more events. Absent at the beginning of the session. */
  readonly before?: string | undefined;
}

/**
 * Reads which events changed a key of the state: from the newest event back, until ten more changes are found, 5,000
 * events are read, or the session begins.
 *
 * @param earlier what was read before: the history continues from there
 */
export async function readHistory(
  service: Pick<SessionService, 'listEvents' | 'sessionInfo'>,
  key: CompositeSessionKey,
  stateKey: string,
  earlier?: KeyHistory,
): Promise<KeyHistory> {
  const found: FoundChange[] = [...(earlier?.found ?? [])];
  const starts = new Map(earlier?.starts);
  const enough = found.length + 10;
  const start = earlier?.readCount ?? 0;
  let readCount = start;
  let before = earlier?.before;
  do {
    const page = await service.listEvents({ ...key, before, limit: PAGE, withCount: false });
    before = page.before;
    for (const event of page.events.reverse()) {
      const index = readCount;
      readCount += 1;
      if (isFilled(event.invocationId)) starts.set(event.invocationId, index);
      const delta = event.actions?.stateDelta ?? {};
      if (!Object.hasOwn(delta, stateKey)) continue;
      const value = delta[stateKey];
      const { id, timestamp, author } = event;
      found.push({
        event: { id, timestamp, ...(author !== undefined && { author }) },
        index,
        after: value === REMOVED ? undefined : value,
        rewinds: rewindTargetOf(event),
      });
    }
  } while (before !== undefined && found.length < enough && readCount - start < MOST);
  const begin = before === undefined ? await valueAtBegin(service, key, stateKey) : undefined;
  const changes = changesOf(found, starts, begin);
  return { changes, readCount, found, starts, ...(before !== undefined && { before }) };
}

/**
 * Returns the changes, the newest first. After a rewind the key has the value of the rewind's cut. If that was not
 * read, the delta of the rewind tells the value; there `null` may stand for no value.
 */
function changesOf(
  found: readonly FoundChange[],
  starts: ReadonlyMap<string, number>,
  begin: { readonly value: unknown } | undefined,
): StateKeyChange[] {
  const oldestFirst = [...found].reverse();
  const changes: StateKeyChange[] = [];
  const valueBefore = (index: number): { readonly value: unknown } | undefined => {
    const at = oldestFirst.findLastIndex((change) => change.index > index);
    return at < 0 ? begin : { value: changes[at]!.after };
  };
  for (const { event, index, after, rewinds } of oldestFirst) {
    const cut = rewinds === undefined ? undefined : starts.get(rewinds);
    const atCut = cut === undefined || cut <= index ? undefined : valueBefore(cut);
    const before = valueBefore(index);
    changes.push({
      event,
      after: atCut === undefined ? after : atCut.value,
      before: before?.value,
      isBeforeKnown: before !== undefined,
    });
  }
  return changes.reverse();
}

/** Returns the value of a key when the session was created, if that is known. */
async function valueAtBegin(
  service: Pick<SessionService, 'sessionInfo'>,
  key: CompositeSessionKey,
  stateKey: string,
): Promise<{ readonly value: unknown } | undefined> {
  // Other sessions may have set it.
  if (isShared(stateKey)) return undefined;
  const initialState = await readInitialState(service, key);
  if (initialState === undefined) return undefined;
  return { value: Object.hasOwn(initialState, stateKey) ? initialState[stateKey] : undefined };
}

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
