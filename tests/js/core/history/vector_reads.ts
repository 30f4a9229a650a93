// All reads of a session with a view: whole, by windows, by pages, and by a handle into which the rest is merged. It
// needs nothing of Node, so pages run it too.
import type {
  CompositeSessionKey,
  Event,
  HistoryView,
  Session,
  SessionService,
} from '../../../../js/index.js';
import type { Vector } from '../../../interop/history/vectors.js';
import { pairedStart } from '../../service/read/view/view_model.js';

const VIEWS = ['raw', 'transcript', 'model'] as const;
const COUNTS = [1, 2, 20] as const;

/** The ids that each read gives, by the name of the read. */
export type Reads = Readonly<Record<string, readonly string[]>>;

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

/** Which prefixes of a history a handle is opened on: all, or the first ones, the middle and the last but one. */
export type Prefixes = 'all' | 'some';

function prefixesOf({ length }: readonly Event[], which: Prefixes): number[] {
  const all = Array.from({ length }, (_, count) => count);
  return which === 'all' ? all : [...new Set([0, length >> 1, length - 1])];
}

/** The event of a handle's own append, later than all of a vector. */
const extra = (id: string): Event => ({
  id,
  invocationId: id,
  author: 'user',
  timestamp: 4_000_000_000_000,
  content: { role: 'user', parts: [{ text: id }] },
  actions: {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
  },
});

/** Reads a vector in all ways. Each vector needs ids of its own. */
export async function readsOf(
  service: SessionService,
  { name, events }: Pick<Vector, 'name' | 'events'>,
  which: Prefixes,
): Promise<Reads> {
  const reads: Record<string, string[]> = {};
  const key = { appName: 'views', userId: name, sessionId: 'whole' };
  await store(service, key, events);
  for (const view of VIEWS) {
    reads[view] = idsOf((await read(service, key, view)).events);
    reads[`${view}, last 0`] = idsOf((await read(service, key, view, 0)).events);
    const { eventCount } = await service.listEvents({ ...key, view });
    reads[`${view}, count`] = [String(eventCount)];
    for (const count of COUNTS) {
      const window = await read(service, key, view, count);
      reads[`${view}, last ${count}`] = idsOf(window.events);
      while (await service.loadOlder(window, count));
      reads[`${view}, last ${count} and older`] = idsOf(window.events);
      for (const order of ['asc', 'desc'] as const) {
        const ids: string[] = [];
        const pages = service.events({ ...key, view, limit: count, order });
        for await (const { id } of pages) ids.push(id);
        reads[`${view}, pages of ${count}, ${order}`] = ids;
      }
    }
  }
  for (const prefix of prefixesOf(events, which)) {
    const key = { appName: 'views', userId: name, sessionId: `merged ${prefix}` };
    await store(service, key, events.slice(0, prefix));
    const handles = [];
    for (const view of VIEWS) handles.push(await read(service, key, view));
    const window = await read(service, key, 'transcript', 2);
    await store(service, key, events.slice(prefix));
    for (const [at, session] of handles.entries()) {
      await service.appendEvent({ session, event: extra(`extra ${at}`) });
      reads[`${VIEWS[at]}, merged from ${prefix}`] = idsOf(session.events);
    }
    await service.appendEvent({ session: window, event: extra('extra 3') });
    // How much of it a window has after a merge is not promised, but its end is that of the view.
    reads[`window, merged from ${prefix}`] = idsOf(window.events).slice(-4);
  }
  return reads;
}

/** What {@link readsOf} must return. */
export function expectedReads(vector: Vector, which: Prefixes): Reads {
  const { events, transcript, model } = vector;
  const shown = { raw: idsOf(events), transcript, model };
  const reads: Record<string, readonly string[]> = {};
  for (const view of VIEWS) {
    const ids = shown[view];
    reads[view] = ids;
    reads[`${view}, last 0`] = [];
    reads[`${view}, count`] = [String(ids.length)];
    for (const count of COUNTS) {
      const stored = ids.map((id) => events.find((event) => event.id === id)!);
      const start = Math.max(0, ids.length - count);
      // No window for models begins between a call and its response.
      reads[`${view}, last ${count}`] = ids.slice(
        view === 'model' ? pairedStart(stored, start) : start,
      );
      reads[`${view}, last ${count} and older`] = ids;
      reads[`${view}, pages of ${count}, asc`] = ids;
      reads[`${view}, pages of ${count}, desc`] = ids.toReversed();
    }
  }
  for (const prefix of prefixesOf(events, which)) {
    const extras: string[] = [];
    for (const [at, view] of VIEWS.entries()) {
      extras.push(`extra ${at}`);
      reads[`${view}, merged from ${prefix}`] = [...shown[view], ...extras];
    }
    reads[`window, merged from ${prefix}`] = [...extras, 'extra 3'];
  }
  return reads;
}

/** Appends events through handles of their own, as programs do that never wait for one another. */
async function store(
  service: SessionService,
  key: CompositeSessionKey,
  events: readonly Event[],
): Promise<void> {
  const session = await service.getOrCreateSession(key);
  if (events.length > 0) await service.appendEvents({ session, events: [...events] });
}

async function read(
  service: SessionService,
  key: CompositeSessionKey,
  view: HistoryView,
  numRecentEvents?: number,
): Promise<Session> {
  const session = await service.getSession({ ...key, config: { view, numRecentEvents } });
  if (session === undefined) throw new Error(`no session ${key.sessionId}`);
  return session;
}
