import { type Call, requireNotAborted } from '../../call/call.js';
import { nextTask } from '../../call/scheduling.js';
import { isPlainObject } from '../../../values/json/rules.js';
import { utf8Length } from '../../../values/json/text.js';
import { setDescription } from '../../../values/model/description.js';
import type { Event } from '../../../values/model/event/event.js';
import type { SessionInfo, TokenUsage } from '../../../values/model/session_info.js';
import type { InfoRequest, ReadInfo, ReadPage } from '../../read.js';
import type { Store } from '../store.js';
import { parseJson } from '../../../values/json/parse.js';

/** What events sum up to. */
export type EventSums = Pick<SessionInfo, 'eventCount' | 'bytes' | 'usage'>;

/** The model of events that name none. */
const UNKNOWN_MODEL = 'unknown';

/** The events of a page: the most that every store allows. */
const PAGE = 1000;

/** Returns what its reader sees of an event. */
export type Shown = (event: Event) => Event;

/** Reads what a session holds. Returns `undefined` if there is no session. */
export async function readInfo(
  store: Pick<Store, 'read'>,
  request: InfoRequest,
  call: Call,
  shown: Shown = (event) => event,
): Promise<ReadInfo | undefined> {
  const counted = await store.read({ ...request, kind: 'info' }, call);
  return counted ?? countPages(store, request, call, shown);
}

/**
 * Counts a session's events, bytes and tokens. It reads the events page by page, from the last one back, so it does not
 * count events that are appended meanwhile. If the session is deleted and created again, it starts over. Other tasks run
 * between the pages.
 */
async function countPages(
  store: Pick<Store, 'read'>,
  { key, skipCorrupt }: InfoRequest,
  call: Call,
  shown: Shown,
): Promise<ReadInfo | undefined> {
  const before = async (eventId?: string, created?: number): Promise<ReadPage | undefined> => {
    requireNotAborted(call.signal);
    const page = { direction: 'before', eventId, limit: PAGE, withCount: false } as const;
    return store.read({ kind: 'page', key, ...page, created, isToEnd: true, skipCorrupt }, call);
  };
  for (;;) {
    const sums = new Sums();
    const newest = await before();
    for (let page = newest; page?.events !== undefined && page.created === newest?.created;) {
      for (const event of page.events) sums.add(shown(event));
      const { hasOlder, firstId } = page;
      if (hasOlder !== true || firstId === undefined) return infoOf(newest, sums.result);
      await nextTask();
      page = await before(firstId, newest?.created);
    }
    if (newest === undefined) return undefined;
  }
}

/** Returns what events sum up to. */
export function sumsOf(events: readonly Event[]): EventSums {
  const sums = new Sums();
  for (const event of events) sums.add(event);
  return sums.result;
}

/** Returns the sums of two groups of events. */
export function addSums(one: EventSums, other: EventSums): EventSums {
  const sums = new Sums();
  sums.addSums(one);
  sums.addSums(other);
  return sums.result;
}

class Sums {
  readonly #usage = new Map<string, Map<string, number>>();
  #eventCount = 0;
  #bytes = 0;

  add(event: Event): void {
    this.#eventCount += 1;
    this.#bytes += utf8Length(JSON.stringify(event));
    const usage = event.usageMetadata as unknown;
    if (!isPlainObject(usage)) return;
    const model = (event.modelVersion as unknown) ?? UNKNOWN_MODEL;
    const name = typeof model === 'string' && model !== '' ? model : UNKNOWN_MODEL;
    const counts = Object.entries(usage).filter((entry): entry is [string, number] => {
      const [member, count] = entry;
      return typeof count === 'number' && member.endsWith('TokenCount');
    });
    this.#addUsage(name, counts);
  }

  addSums({ eventCount, bytes, usage }: EventSums): void {
    this.#eventCount += eventCount;
    this.#bytes += bytes;
    for (const [model, counts] of Object.entries(usage)) {
      this.#addUsage(model, Object.entries(counts as Record<string, number>));
    }
  }

  #addUsage(model: string, counts: readonly (readonly [string, number])[]): void {
    let sums = this.#usage.get(model);
    if (sums === undefined) this.#usage.set(model, (sums = new Map<string, number>()));
    for (const [member, count] of counts) sums.set(member, (sums.get(member) ?? 0) + count);
  }

  get result(): EventSums {
    const byModel = sorted(this.#usage).map(([model, sums]) => [
      model,
      Object.fromEntries(sorted(sums)),
    ]);
    const usage = Object.fromEntries(byModel) as Record<string, TokenUsage>;
    return { eventCount: this.#eventCount, bytes: this.#bytes, usage };
  }
}

/** Returns what a session holds. @param page a page of it, which says what the session is */
function infoOf(page: ReadPage, sums: EventSums): ReadInfo {
  const { created, revision, createTime = 0, lastUpdateTime = 0, initialState } = page;
  const info: SessionInfo = {
    ...(createTime > 0 && { createTime }),
    lastUpdateTime,
    ...sums,
    ...initialStateOf(initialState),
  };
  return { created, revision, info: setDescription(info, page) };
}

function sorted<V>(entries: ReadonlyMap<string, V>): [string, V][] {
  return [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Parses an initial state. A damaged text counts as absent, like damaged labels. */
export function initialStateOf<S extends object>(
  text: string | undefined,
): Pick<SessionInfo<S>, 'initialState'> {
  try {
    return typeof text === 'string' ? { initialState: parseJson(text) as Partial<S> } : {};
  } catch {
    return {};
  }
}
