import type { MaybePromise } from '../call/call.js';
import { isPlainObject } from '../json/rules.js';
import { utf8Length } from '../json/text.js';
import { setDescription } from '../model/description.js';
import type { Event } from '../model/event/event.js';
import type { SessionInfo, TokenUsage } from '../model/session_info.js';
import type { ReadPage } from '../storage/backend.js';
import { parseJson } from '../json/parse.js';

/** Reads the last events, or those before the event with `eventId`, with their session. */
type ReadPageBefore = (
  eventId: string | undefined,
  created: number | undefined,
) => MaybePromise<ReadPage>;

/** The model of events that name none. */
const UNKNOWN_MODEL = 'unknown';

/**
 * Counts a session's events, bytes and tokens. It reads the events page by page, from the last one back, so it does not
 * count events that are appended meanwhile. If the session is deleted and created again, it starts over.
 */
export async function sumSession<S extends object>(
  readPage: ReadPageBefore,
): Promise<SessionInfo<S>> {
  for (;;) {
    const sums = new Sums();
    const newest = await readPage(undefined, undefined);
    for (let page = newest; page.events !== undefined && page.created === newest.created;) {
      for (const event of page.events) sums.add(event);
      const { hasOlder, firstId } = page;
      if (hasOlder !== true || firstId === undefined) return sums.infoOf<S>(newest);
      page = await readPage(firstId, newest.created);
    }
  }
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
    let sums = this.#usage.get(name);
    if (sums === undefined) this.#usage.set(name, (sums = new Map<string, number>()));
    for (const [member, count] of Object.entries(usage)) {
      const isCount = typeof count === 'number' && member.endsWith('TokenCount');
      if (isCount) sums.set(member, (sums.get(member) ?? 0) + count);
    }
  }

  infoOf<S extends object>(page: ReadPage): SessionInfo<S> {
    const { createTime = 0, lastUpdateTime = 0, initialState } = page;
    const byModel = sorted(this.#usage).map(([model, sums]) => [
      model,
      Object.fromEntries(sorted(sums)),
    ]);
    const info: SessionInfo<S> = {
      ...(createTime > 0 && { createTime }),
      lastUpdateTime,
      eventCount: this.#eventCount,
      bytes: this.#bytes,
      usage: Object.fromEntries(byModel) as Record<string, TokenUsage>,
      ...initialStateOf<S>(initialState),
    };
    return setDescription(info, page);
  }
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
