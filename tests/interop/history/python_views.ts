// What google-adk for Python shows of histories, and the vectors that record it.

import { compactionOf } from '../../../js/values/model/event/markers.js';
import type { Event } from '../../../js/index.js';
import { convertTimes, toSeconds } from '../../../js/values/python/time.js';
import { linesOfPython } from '../python.js';
import type { History } from './histories.js';
import { requestOf } from './requests.js';
import type { ContextView, Vector, Views } from './vectors.js';

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

/** Makes the vectors: google-adk applies rewinds and its own compactions, the framework's Runner applies its own. */
export async function makeVectors(histories: readonly History[]): Promise<Vector[]> {
  const whole = viewsOfPython(histories);
  // Python presents the summaries of @google/adk as messages, so it gets the histories without them.
  const ofPython = viewsOfPython(
    histories.map(({ events, contexts }) => ({
      events: events.filter((event) => !isCompacted(event)),
      contexts,
    })),
  );
  const vectorOf = async ({ name, events, contexts }: History, at: number): Promise<Vector> => {
    const live = events.filter(({ id }) => whole[at]!.transcript.includes(id));
    const { transcript, summarised, model, contexts: read } = ofPython[at]!;
    const compacted = live.filter(isCompacted);
    if (compacted.length === 0) {
      const contextViews = contexts.map((context, of) => ({ ...context, ...read[of]! }));
      return { name, events, transcript, summarised, model, contexts: contextViews };
    }
    const inOrder = (ids: readonly string[]): Event[] =>
      compacted.reduce(
        (list, summary) => {
          const later = list.findIndex(({ timestamp }) => timestamp > summary.timestamp);
          return list.toSpliced(later < 0 ? list.length : later, 0, summary);
        },
        ids.map((id) => shownEvent(id, events)),
      );
    const active = await activeEvents(live, ROOT);
    const hidden = live.filter((event) => !isCompacted(event) && !active.ids.includes(event.id));
    const hiddenIds = new Set([...summarised, ...idsOf(hidden)]);
    const forModel = inOrder(model);
    const shown = await activeEvents(forModel, ROOT);
    const contextViews = contexts.map(async (context, of) => {
      return { ...context, ...(await activeEvents(inOrder(read[of]!.ids), context.agentName)) };
    });
    return {
      name,
      events,
      transcript,
      summarised: transcript.filter((id) => hiddenIds.has(id)),
      model: idsOf(forModel.filter((event) => !isSummary(event) || shown.ids.includes(event.id))),
      contexts: await Promise.all(contextViews),
    };
  };
  return Promise.all(histories.map(vectorOf));
}

const ROOT = 'root';

/** Returns which of the events the framework's Runner sends to an agent's model, and the texts of that request. */
async function activeEvents(events: readonly Event[], agentName: string): Promise<ContextView> {
  // A service stores no event with the id of a summary.
  const stored = events.map((event, at) => ({ ...event, id: String(at) }));
  const texts = await requestOf(stored, agentName, 'raw');
  const ids = texts.map((text) => {
    const own = /^(?:model|user): (?:\[Previous Context Summary\]:\n)?(.*)$/.exec(text)?.[1];
    return events.find(({ content }) => content?.parts?.[0]?.text === own)!.id;
  });
  return { ids, texts };
}

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

const isCompacted = (event: Event): boolean =>
  (event as Event & { isCompacted?: unknown }).isCompacted === true;

const isSummary = ({ id }: Event): boolean => id.startsWith('adk-view:');

/** The event of an id in a view. A summary has the time of the end of its range. */
function shownEvent(id: string, events: readonly Event[]): Event {
  const event = events.find((event) => event.id === id.replace(/^adk-view:/, ''))!;
  if (event.id === id) return event;
  const { endTimestamp, compactedContent } = compactionOf(event)!;
  return { ...event, id, timestamp: endTimestamp, content: compactedContent };
}
