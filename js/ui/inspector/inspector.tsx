import type { GivenService } from '../../core/call/given_service.js';
import type { SessionService } from '../../values/model/session_service.js';
import { type LiveSession, liveSession } from '../live/index.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { HistoryView } from '../../values/model/values/read_options.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { ImportButton, useImports } from './sessions/imports.js';
import { SessionDetails } from './sessions/session_details.js';
import { SessionList } from './sessions/session_list.js';
import { StateView } from './state/state_view.js';
import { StorageView } from './storage_view.js';
import { TemplateEditor } from './template_editor.js';
import { EventDetail } from './timeline/event_detail.js';
import { EventWindow, type JumpTarget } from './timeline/event_window.js';
import { Timeline } from './timeline/timeline.js';
import { useMeasured } from './view/hooks.js';
import { ErrorNote, panelOf, type Tab, TabList } from './view/parts.js';
import { useCallback, useEffect, useMemo, useRef, useState, type VNode } from './view/preact.js';

/** What the inspector shows: an app, a user or all (`''`), and a session or none. */
export interface Selection {
  readonly appName: string;
  readonly userId: string;
  readonly session: CompositeSessionKey | undefined;
}

interface InspectorProps {
  service: GivenService<SessionService>;
  /** What the page selects. A new object selects again. */
  given: Selection;
  onSelection: (selection: Selection) => void;
}

/** The width in CSS pixels below which one view is shown at a time. */
const NARROW = 720;

const LISTS = [
  { id: 'sessions', label: 'Sessions' },
  { id: 'timeline', label: 'Events' },
] as const satisfies readonly Tab[];
const PANES = [
  { id: 'event', label: 'Event' },
  { id: 'state', label: 'State' },
  { id: 'template', label: 'Template' },
  { id: 'session', label: 'Session' },
  { id: 'storage', label: 'Storage' },
] as const satisfies readonly Tab[];

type ViewId = (typeof LISTS)[number]['id'] | (typeof PANES)[number]['id'];

/** Sessions, the events of one, and a pane about what is selected. */
export function Inspector({ service, given, onSelection }: InspectorProps): VNode {
  const [selection, setSelection] = useState(given);
  // Services have no list of their apps: those that were opened are offered.
  const [apps, setApps] = useState<readonly string[]>([]);
  const [view, setView] = useState<ViewId>('sessions');
  const [pane, setPane] = useState<ViewId>('event');
  const [template, setTemplate] = useState('');
  const root = useRef<HTMLDivElement>(null);
  const isNarrow = useMeasured(root, false, ({ clientWidth }) => clientWidth < NARROW);
  useEffect(() => setSelection(given), [given]);

  const select = (changed: Selection): void => {
    setSelection(changed);
    onSelection(changed);
  };
  const selectSession = (session: CompositeSessionKey): void => {
    const { appName, userId } = selection;
    const isListed = appName === session.appName && (userId === '' || userId === session.userId);
    select(isListed ? { appName, userId, session } : { ...session, session });
    setApps((known) => [...new Set([...known, session.appName])]);
    setView('timeline');
  };
  const imports = useImports(service, (session, isWhole) => {
    selectSession(session);
    // A narrow inspector shows the problems only there.
    if (!isWhole) setView('sessions');
  });
  const show = (id: ViewId): void => {
    setView(id);
    if (PANES.some((tab) => tab.id === id)) setPane(id);
  };
  const shown = isNarrow ? view : pane;
  const { appName, userId, session } = selection;
  const sessions = (
    <SessionList
      service={service}
      appName={appName}
      userId={userId}
      apps={apps}
      selected={session}
      onApp={(appName) => select({ appName, userId, session: undefined })}
      onUser={(userId) => select({ appName, userId, session: undefined })}
      onSelect={selectSession}
    >
      <ImportButton {...imports} />
    </SessionList>
  );
  const onDrop = (event: DragEvent): void => {
    const files = [...(event.dataTransfer?.files ?? [])];
    // A text may be dropped into a field.
    if (files.length === 0) return;
    event.preventDefault();
    imports.add(files);
    setView('sessions');
  };
  return (
    <section
      class={isNarrow ? 'inspector narrow' : 'inspector'}
      aria-label="Session inspector"
      ref={root}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      {isNarrow && (
        <TabList<ViewId>
          label="Views"
          tabs={[...LISTS, ...PANES]}
          selected={shown}
          onSelect={show}
        />
      )}
      {(!isNarrow || shown === 'sessions') && (
        <div class="column" {...(isNarrow && panelOf('sessions'))}>
          {sessions}
        </div>
      )}
      <OpenSession
        key={JSON.stringify(session)}
        service={service}
        session={session}
        shown={shown}
        isNarrow={isNarrow}
        template={template}
        onTemplate={setTemplate}
        onShow={show}
      />
    </section>
  );
}

interface OpenSessionProps {
  service: GivenService<SessionService>;
  session: CompositeSessionKey | undefined;
  shown: ViewId;
  isNarrow: boolean;
  template: string;
  onTemplate: (text: string) => void;
  onShow: (id: ViewId) => void;
}

interface SessionStores {
  readonly live: LiveSession;
  readonly events: EventWindow;
}

/** The events and the pane of one session. */
function OpenSession(props: OpenSessionProps): VNode {
  const { service, session, shown, isNarrow, onShow } = props;
  const [event, setEvent] = useState<Event | undefined>(undefined);
  const [shownKey, setShownKey] = useState<string | undefined>(undefined);
  const [isRaw, setRaw] = useState(false);
  const [target, setTarget] = useState<JumpTarget>('newest');
  const view = isRaw ? 'raw' : 'transcript';
  const { stores, error } = useMemo(() => openStores(service, session, view), [service, view]);
  /** Shows a place of the session. Returns whether the target is listed there. */
  const open = async (target: JumpTarget): Promise<boolean> => {
    await stores?.events.open(target);
    if (stores === undefined || typeof target === 'string') return true;
    const found = stores.events.getSnapshot().events.find(({ id }) => id === target.eventId);
    if (found !== undefined) setEvent(found);
    return found !== undefined;
  };
  useEffect(() => void open(target), [stores]);
  const selectEvent = useCallback((selected: Event | undefined): void => setEvent(selected), []);
  const showKey = (key: string | undefined): void => {
    setShownKey(key);
    if (key !== undefined) onShow('state');
  };
  const showEvent = (eventId: string): void => {
    void open({ eventId }).then((isListed) => {
      // A key may have its value from an undone event, or from the marker of a rewind.
      if (!isListed) {
        setTarget({ eventId });
        setRaw(true);
      }
      onShow('event');
    });
  };
  const showRaw = (isRaw: boolean): void => {
    setTarget('newest');
    setRaw(isRaw);
  };
  const rewindTo = async (eventId: string): Promise<void> => {
    if (session === undefined) return;
    const { rewind } = await loadChunk(() => import('../../core/history/rewind.js'));
    await rewind(await service, { ...session, before: { eventId } });
    await stores?.live.reload();
  };
  const paneView = (): VNode => {
    if (shown === 'storage') return <StorageView service={service} />;
    if (stores === undefined) return <Hint text="Select a session." />;
    const { live } = stores;
    if (shown === 'state') {
      return (
        <StateView
          service={service}
          live={live}
          shownKey={shownKey}
          onShowKey={showKey}
          onShowEvent={showEvent}
        />
      );
    }
    if (shown === 'template') {
      return <TemplateEditor live={live} text={props.template} onText={props.onTemplate} />;
    }
    if (shown === 'session') return <SessionDetails service={service} live={live} />;
    return event === undefined ? (
      <Hint text="Select an event." />
    ) : (
      <EventDetail key={event.id} event={event} onShowKey={showKey} onRewind={rewindTo} />
    );
  };
  const timeline = (): VNode =>
    stores === undefined ? (
      <Hint text={session === undefined ? 'Select a session.' : 'The session cannot be shown.'} />
    ) : (
      <Timeline {...stores} selected={event} isRaw={isRaw} onRaw={showRaw} onSelect={selectEvent} />
    );
  const isPane = PANES.some(({ id }) => id === shown);
  return (
    <div class="open-session">
      <ErrorNote error={error} />
      {(!isNarrow || shown === 'timeline') && (
        <div class="column" {...(isNarrow && panelOf('timeline'))}>
          {timeline()}
        </div>
      )}
      {isPane && (
        <div class="column pane">
          {!isNarrow && (
            <TabList<ViewId> label="Details" tabs={PANES} selected={shown} onSelect={onShow} />
          )}
          <div key={shown} class="panel" {...panelOf(shown)}>
            {paneView()}
          </div>
        </div>
      )}
    </div>
  );
}

function Hint({ text }: { text: string }): VNode {
  return <p class="muted">{text}</p>;
}

function openStores(
  service: GivenService<SessionService>,
  session: CompositeSessionKey | undefined,
  view: HistoryView,
): { stores?: SessionStores; error?: unknown } {
  if (session === undefined) return {};
  try {
    return {
      stores: {
        live: liveSession(service, session, { view }),
        events: new EventWindow(service, session, view),
      },
    };
  } catch (error) {
    return { error };
  }
}
