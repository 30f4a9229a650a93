import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { type LiveSessions, liveSessions } from '../../live/index.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import { useSettled, useStore, nextPosition } from '../view/hooks.js';
import { Button, ErrorNote, Field } from '../view/parts.js';
import {
  type ComponentChildren,
  useEffect,
  useMemo,
  useRef,
  useState,
  type VNode,
} from '../view/preact.js';
import { clip, sessionsText, timeText } from '../view/text.js';
import {
  labelsText,
  listRequest,
  type FilterTexts,
  type Search,
  useSearch,
} from './session_filter.js';

interface SessionListProps {
  service: GivenService<SessionService>;
  appName: string;
  /** Empty: all users of the app. */
  userId: string;
  /** The apps and users that the list offers to choose. */
  apps: readonly string[];
  selected: CompositeSessionKey | undefined;
  onApp: (appName: string) => void;
  onUser: (userId: string) => void;
  onSelect: (key: CompositeSessionKey) => void;
  children?: ComponentChildren;
}

/** Apps, users and sessions, the newest first. */
export function SessionList(props: SessionListProps): VNode {
  const { service, appName, userId, apps, onApp, onUser, children } = props;
  const [filter, setFilter] = useState<FilterTexts>({ title: '', labels: '', text: '', id: '' });
  const [users, setUsers] = useState<readonly string[]>([]);
  const { app, user, title, labels, text, id } = useSettled(
    useMemo(() => ({ app: appName, user: userId, ...filter }), [appName, userId, filter]),
  );
  const list = useMemo(() => {
    try {
      if (app === '') return { error: undefined };
      const request = listRequest(app, user, { title, labels });
      return { request, store: liveSessions(service, request), error: undefined };
    } catch (error) {
      return { error };
    }
  }, [service, app, user, title, labels]);
  const setPart = (name: keyof FilterTexts) => (text: string) =>
    setFilter({ ...filter, [name]: text });
  return (
    <div class="sessions">
      <Field label="App" value={appName} onValue={onApp} list={apps} />
      <Field label="User" value={userId} onValue={onUser} hint="all users" list={users} />
      <details>
        <summary>Filter</summary>
        <Field
          label="Title"
          value={filter.title}
          onValue={setPart('title')}
          hint="words of the title"
        />
        <Field label="Labels" value={filter.labels} onValue={setPart('labels')} hint="key=value" />
        <Field
          label="Text"
          value={filter.text}
          onValue={setPart('text')}
          hint="words that were said"
        />
        <Field label="Id" value={filter.id} onValue={setPart('id')} hint="id or a part" />
      </details>
      {children}
      {app === '' && <p class="muted">Type the name of an app.</p>}
      <ErrorNote error={list.error} />
      {list.store !== undefined && (
        <StoredSessions
          key={JSON.stringify(list.request)}
          {...props}
          store={list.store}
          request={list.request}
          part={id.trim()}
          text={text.trim()}
          onUsers={setUsers}
        />
      )}
    </div>
  );
}

function StoredSessions(
  props: SessionListProps &
    Search & { store: LiveSessions; onUsers: (users: readonly string[]) => void },
): VNode {
  const { store, part, text, selected, onSelect, onUsers } = props;
  const { status, sessions, hasMore, error } = useStore(store);
  const users = useMemo(() => [...new Set(sessions.map(({ userId }) => userId))], [sessions]);
  const search = useSearch(props, users, status);
  useEffect(() => onUsers(users), [users]);
  const isList = part === '' && text === '';
  const shown = isList ? sessions : search.found;
  return (
    <div class="fill">
      <ErrorNote error={error ?? search.error} />
      <p class="muted" role="status">
        {search.isSearching
          ? `Searching… ${sessionsText(shown.length)}`
          : countText(status, shown.length, isList && hasMore)}
        {!search.isSearching && !search.isComplete && ' so far; not all texts are searched yet'}
      </p>
      {shown.length > 0 && (
        <SessionOptions sessions={shown} selected={selected} onSelect={onSelect} />
      )}
      {isList && hasMore && <Button label="Load more" onClick={() => void store.loadMore()} />}
    </div>
  );
}

function countText(status: string, count: number, hasMore: boolean): string {
  if (status === 'loading') return 'Reading…';
  return hasMore ? `The newest ${sessionsText(count)}` : sessionsText(count);
}

function SessionOptions(props: {
  sessions: readonly Readonly<Session>[];
  selected: CompositeSessionKey | undefined;
  onSelect: (key: CompositeSessionKey) => void;
}): VNode {
  const { sessions, selected, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const position = sessions.findIndex(
    ({ id, userId, appName }) =>
      id === selected?.sessionId && userId === selected.userId && appName === selected.appName,
  );
  const select = ({ appName, userId, id }: Readonly<Session>): void =>
    onSelect({ appName, userId, sessionId: id });
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextPosition(event.key, position, sessions.length, 10);
    const session = next === undefined ? undefined : sessions[next];
    if (session === undefined) return;
    event.preventDefault();
    select(session);
    box.current?.children[next ?? 0]?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <div
      role="listbox"
      tabIndex={0}
      aria-label="Sessions"
      aria-activedescendant={position < 0 ? undefined : `session-${position}`}
      class="session-options"
      ref={box}
      onKeyDown={onKeyDown}
    >
      {sessions.map((session, at) => {
        const { id, userId, title, labels, lastUpdateTime } = session;
        return (
          <div
            key={JSON.stringify([userId, id])}
            id={`session-${at}`}
            role="option"
            aria-selected={at === position}
            class="session-option"
            onClick={() => select(session)}
          >
            <bdi class="session-title">{clip(title ?? id, 128)}</bdi>
            <div class="muted">
              <bdi>{clip(userId, 60)}</bdi>
              {labels !== undefined && <bdi> · {clip(labelsText(labels), 120)}</bdi>}
              <time> · {timeText(lastUpdateTime)}</time>
            </div>
          </div>
        );
      })}
    </div>
  );
}
