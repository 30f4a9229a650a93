import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { type LiveSessions, liveSessions } from '../../live/index.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import { useSettled, useStore } from '../view/hooks.js';
import { nextPosition } from '../view/list_keys.js';
import { Button, ErrorNote, Field } from '../view/parts.js';
import {
  type ComponentChildren,
  h,
  useEffect,
  useMemo,
  useRef,
  useState,
  type VNode,
} from '../view/preact.js';
import { clip, sessionsText, timeText } from '../view/text.js';
import { labelsText, listRequest, type SessionFilter } from './session_filter.js';
import { type Search, useSearch } from './session_search.js';

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
  const [filter, setFilter] = useState<SessionFilter>({ title: '', labels: '', id: '' });
  const [users, setUsers] = useState<readonly string[]>([]);
  const { app, user, title, labels, id } = useSettled(
    useMemo(() => ({ app: appName, user: userId, ...filter }), [appName, userId, filter]),
  );
  const list = useMemo(() => {
    try {
      if (app === '') return { error: undefined };
      const request = listRequest(app, user, { title, labels, id });
      return { request, store: liveSessions(service, request), error: undefined };
    } catch (error) {
      return { error };
    }
  }, [service, app, user, title, labels]);
  const setPart = (name: keyof SessionFilter) => (text: string) =>
    setFilter({ ...filter, [name]: text });
  return h('div', { class: 'sessions' }, [
    h(Field, { label: 'App', value: appName, onValue: onApp, list: apps }),
    h(Field, { label: 'User', value: userId, onValue: onUser, hint: 'all users', list: users }),
    h('details', null, [
      h('summary', null, 'Filter'),
      h(Field, {
        label: 'Title',
        value: filter.title,
        onValue: setPart('title'),
        hint: 'words of the title',
      }),
      h(Field, {
        label: 'Labels',
        value: filter.labels,
        onValue: setPart('labels'),
        hint: 'key=value',
      }),
      h(Field, { label: 'Id', value: filter.id, onValue: setPart('id'), hint: 'id or a part' }),
    ]),
    children,
    app === '' && h('p', { class: 'muted' }, 'Type the name of an app.'),
    h(ErrorNote, { error: list.error }),
    list.store !== undefined &&
      h(StoredSessions, {
        ...props,
        key: JSON.stringify(list.request),
        store: list.store,
        request: list.request,
        part: id.trim(),
        onUsers: setUsers,
      }),
  ]);
}

function StoredSessions(
  props: SessionListProps &
    Search & { store: LiveSessions; onUsers: (users: readonly string[]) => void },
): VNode {
  const { store, part, selected, onSelect, onUsers } = props;
  const { status, sessions, hasMore, error } = useStore(store);
  const users = useMemo(() => [...new Set(sessions.map(({ userId }) => userId))], [sessions]);
  const search = useSearch(props, users, status);
  useEffect(() => onUsers(users), [users]);
  const shown = part === '' ? sessions : search.found;
  return h('div', { class: 'fill' }, [
    h(ErrorNote, { error: error ?? search.error }),
    h(
      'p',
      { class: 'muted', role: 'status' },
      search.isSearching
        ? `Searching… ${sessionsText(shown.length)}`
        : countText(status, shown.length, part === '' && hasMore),
    ),
    shown.length > 0 && h(SessionOptions, { sessions: shown, selected, onSelect }),
    part === '' &&
      hasMore &&
      h(Button, { label: 'Load more', onClick: () => void store.loadMore() }),
  ]);
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
  return h(
    'div',
    {
      role: 'listbox',
      tabIndex: 0,
      'aria-label': 'Sessions',
      'aria-activedescendant': position < 0 ? undefined : `session-${position}`,
      class: 'session-options',
      ref: box,
      onKeyDown,
    },
    sessions.map((session, at) => {
      const { id, userId, title, labels, lastUpdateTime } = session;
      return h(
        'div',
        {
          key: JSON.stringify([userId, id]),
          id: `session-${at}`,
          role: 'option',
          'aria-selected': at === position,
          class: 'session-option',
          onClick: () => select(session),
        },
        [
          h('bdi', { class: 'session-title' }, clip(title ?? id, 128)),
          h('div', { class: 'muted' }, [
            h('bdi', null, clip(userId, 60)),
            labels !== undefined && h('bdi', null, ` · ${clip(labelsText(labels), 120)}`),
            h('time', null, ` · ${timeText(lastUpdateTime)}`),
          ]),
        ],
      );
    }),
  );
}
