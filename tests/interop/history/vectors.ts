import { readFileSync } from 'node:fs';

import { convertTimes, toSeconds } from '../../../js/python/time.js';
import type { Event } from '../../../js/index.js';
import { linesOfPython } from '../python.js';
import type { History, ReaderContext } from './histories.js';

export const VECTORS = new URL('../../vectors/history.json', import.meta.url);

/** The views of a history by their events' ids; see tests/interop/python/contents.py. */
export interface Views {
  readonly transcript: readonly string[];
  readonly summarised: readonly string[];
  readonly model: readonly string[];
  readonly contexts: readonly ContextView[];
}

/** The events that an agent reads, and their texts; `texts` is `null` where Python raises an error. */
export interface ContextView {
  readonly ids: readonly string[];
  readonly texts: readonly string[] | null;
}

/** One vector of tests/vectors/history.json. */
export interface Vector extends Omit<Views, 'contexts'> {
  readonly name: string;
  readonly events: readonly Event[];
  readonly contexts: readonly (ReaderContext & ContextView)[];
}

export function readVectors(): Vector[] {
  return JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[];
}

/** Shows histories to the real google-adk. */
export function viewsOfPython(histories: readonly Pick<History, 'events' | 'contexts'>[]): Views[] {
  const lines = histories.map(({ events, contexts }) => ({
    events: events.map((event) => inSeconds(event)),
    contexts,
  }));
  return linesOfPython('contents.py', { lines }) as Views[];
}

const inSeconds = (event: Event): object =>
  convertTimes({ ...event }, (time) => toSeconds(time as number));

/** Makes the vectors: google-adk applies rewinds and its own compactions, `@google/adk` applies its own. */
export async function makeVectors(histories: readonly History[]): Promise<Vector[]> {
  const getActiveEvents = await frameworkRule();
  const whole = viewsOfPython(histories);
  // Python presents the summaries of @google/adk as messages, so it gets the histories without them.
  const ofPython = viewsOfPython(
    histories.map(({ events, contexts }) => ({
      events: events.filter((event) => !isCompacted(event)),
      contexts,
    })),
  );
  return histories.map(({ name, events, contexts }, at) => {
    const live = events.filter(({ id }) => whole[at]!.transcript.includes(id));
    const { transcript, summarised, model, contexts: read } = ofPython[at]!;
    const compacted = live.filter(isCompacted);
    const inOrder = (ids: readonly string[]): Event[] =>
      compacted.reduce(
        (list, summary) => {
          const later = list.findIndex(({ timestamp }) => timestamp > summary.timestamp);
          return list.toSpliced(later < 0 ? list.length : later, 0, summary);
        },
        ids.map((id) => shownEvent(id, events)),
      );
    const isActive = (event: Event, list: Event[]): boolean =>
      getActiveEvents(list).includes(event);
    const hiddenByFramework = live.filter((event) => !isCompacted(event) && !isActive(event, live));
    const hidden = new Set([...summarised, ...hiddenByFramework.map(({ id }) => id)]);
    const forModel = inOrder(model);
    return {
      name,
      events,
      transcript,
      summarised: transcript.filter((id) => hidden.has(id)),
      model: idsOf(forModel.filter((event) => !isSummary(event) || isActive(event, forModel))),
      contexts: contexts.map((context, of) => {
        const { ids, texts } = read[of]!;
        if (compacted.length === 0) return { ...context, ids, texts };
        const list = inOrder(ids);
        return { ...context, ids: idsOf(getActiveEvents(list)), texts: null };
      }),
    };
  });
}

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

const isCompacted = (event: Event): boolean =>
  (event as Event & { isCompacted?: unknown }).isCompacted === true;

const isSummary = ({ id }: Event): boolean => id.startsWith('adk-view:');

/** The event of an id in a view. A summary has the time of the end of its range. */
function shownEvent(id: string, events: readonly Event[]): Event {
  const event = events.find((event) => event.id === id.replace(/^adk-view:/, ''))!;
  if (event.id === id) return event;
  const { compaction } = event.actions as { compaction?: { endTimestamp: number } };
  return { ...event, id, timestamp: compaction!.endTimestamp };
}

/** The function by which the framework applies its own compactions. The package does not export it. */
async function frameworkRule(): Promise<(events: Event[]) => Event[]> {
  const framework = import.meta.resolve('@google/adk');
  const file = new URL('context/compaction_utils.js', framework).href;
  const module = (await import(file)) as { getActiveEvents: (events: Event[]) => Event[] };
  return (events) => module.getActiveEvents(events);
}
