/** Makes the events of views. The core decides which. */
import { hasCallParts } from '../../../values/model/event/parts.js';
import {
  compactedEndOf,
  compactionOf,
  isMarker,
  noteSummarised,
  rewindTargetOf,
} from '../../../values/model/event/markers.js';
import { isPlainObject, isObject } from '../../../values/json/rules.js';
import type { FunctionCall, FunctionResponse, Part } from '../../../values/model/event/content.js';
import { createEventActions } from '../../../values/model/event/create_event.js';
import type { Event } from '../../../values/model/event/event.js';
import { SUMMARY_PREFIX } from '../../../values/model/event/stored.js';
import type { ComputedView } from '../../../values/model/values/read_options.js';
import {
  historyItems,
  type HistoryItems,
  askActiveEvents,
  type PartChange,
} from '../../wasm/packed_marks.js';
import type { CallMarks } from './call_marks.js';
import { eventMarksOf, FOR_ALL, marksOf, type Reading } from './marks.js';

/** Events as a view shows them. */
export interface ViewedEvents {
  readonly events: Event[];
  /** The ids of a transcript's events that a summary stands for. */
  readonly summarised: ReadonlySet<string>;
}

/**
 * Computes the view of a whole history. If nothing in it can change what the view shows, it is the history, and the
 * wasm is not called.
 *
 * @param events all events of a session, in append order
 * @param older the invocations that begin before the events, if a cache has only these
 */
export function viewOf(
  events: Event[],
  view: ComputedView,
  older?: readonly string[],
): ViewedEvents {
  const isForModels = view === 'model';
  if (!events.some((event) => isMarker(event) || (isForModels && hasCallParts(event)))) {
    return { events, summarised: new Set() };
  }
  const marks = marksOf(events, FOR_ALL, older);
  return showItems(events, marks, historyItems(marks, view));
}

/** Returns the events of the items of a view, or of a part of it. */
export function showItems(
  events: readonly Event[],
  marks: CallMarks,
  viewed: HistoryItems,
): ViewedEvents {
  const { changes, firstWaiting } = viewed;
  const summarised = new Set(viewed.summarised.map((at) => events[at]!.id));
  const changed = partChanger(marks, changes);
  const waitingSince = firstWaiting === undefined ? undefined : events[firstWaiting]!.timestamp;
  const shown = itemsOf(viewed, events, frameworkSummary, (event, index) => {
    const isLate = waitingSince !== undefined && (compactedEndOf(event) ?? -1) >= waitingSince;
    // The framework hides all events up to this time.
    return isLate ? ({ ...event, endTime: waitingSince - 1 } as Event) : changed(event, index);
  });
  noteSummarised(shown, summarised);
  return { events: shown, summarised };
}

/** How a reader sees events of which only rewinds matter. */
const REWINDS: Reading = { counts: () => false, visibilityOf: () => 'fixed' };

/**
 * Returns the events without what rewinds have undone, and without the rewinds. Compactions remain.
 *
 * @param older the invocations that begin before the events
 */
export function activeEvents(
  events: readonly Event[],
  older?: readonly string[],
): readonly Event[] {
  if (!events.some((event) => rewindTargetOf(event) !== undefined)) return events;
  return Array.from(
    askActiveEvents(eventMarksOf(events, REWINDS, older)),
    (event) => events[event]!,
  );
}

/** Returns the events of a view; `summaryOf` makes those of summaries, `shownAs` those of stored events. */
export function itemsOf(
  { items }: Pick<HistoryItems, 'items'>,
  events: readonly Event[],
  summaryOf: (compaction: Event, agentEvent: Event | undefined) => Event,
  shownAs: (event: Event, index: number) => Event = (event) => event,
): Event[] {
  return items.map(({ event, isSummary, agentEvent }) => {
    const stored = events[event]!;
    if (!isSummary) return shownAs(stored, event);
    return summaryOf(stored, agentEvent === undefined ? undefined : events[agentEvent]);
  });
}

/**
 * Makes the event that the framework reads in place of what a compaction of Python hides. It has the author and the
 * metadata of the last agent's event among that: the framework finds the agent of the next message by the author, and
 * A2A finds its context by the metadata.
 */
function frameworkSummary(compaction: Event, agentEvent: Event | undefined): Event {
  const summary = summaryEvent(compaction, agentEvent?.author ?? 'model');
  const { parts } = summary.content ?? {};
  const content = Array.isArray(parts) ? parts.filter((part) => !isThought(part)) : [];
  summary.content = { role: 'model', parts: content };
  if (agentEvent?.customMetadata !== undefined) summary.customMetadata = agentEvent.customMetadata;
  return summary;
}

const isThought = (part: unknown): boolean => isPlainObject(part) && part.thought === true;

/** Makes the event of a summary, with the content that Python stored. */
export function summaryEvent(compaction: Event, author: string): Event {
  const { endTimestamp = compaction.timestamp, compactedContent = {} } =
    compactionOf(compaction) ?? {};
  return {
    id: `${SUMMARY_PREFIX}${compaction.id}`,
    invocationId: compaction.invocationId,
    author,
    timestamp: endTimestamp,
    content: structuredClone(compactedContent),
    actions: createEventActions(),
  };
}

// Changes function calls and responses in copies of events; the core decides which.

/**
 * Returns a function that returns an event as a reader gets it: the event itself if no part of it changes, or else a
 * copy.
 */
function partChanger(
  { callParts, responseParts }: CallMarks,
  changes: readonly PartChange[],
): (event: Event, index: number) => Event {
  const changed = new Set<number>();
  const suffixes = new Map<Part, number>();
  for (const { isResponse, index, suffix } of changes) {
    const found = (isResponse ? responseParts : callParts)[index];
    if (found === undefined) continue;
    changed.add(found.event);
    suffixes.set(found.part, suffix);
  }
  return (event, index) => {
    if (!changed.has(index) || event.content?.parts === undefined) return event;
    const parts = changedParts(event.content.parts, suffixes);
    return { ...event, content: { ...event.content, parts } };
  };
}

/** The thought signature of a call that is left out goes to the next call. */
function changedParts(parts: readonly Part[], suffixes: ReadonlyMap<Part, number>): Part[] {
  const kept: Part[] = [];
  let signature: string | undefined;
  for (const part of parts) {
    // Another program may have stored anything in place of a part.
    if (!isObject(part)) {
      kept.push(part);
      continue;
    }
    const suffix = suffixes.get(part);
    if (suffix === 0) {
      signature ??= part.thoughtSignature as string | undefined;
      continue;
    }
    let shown = suffix === undefined ? part : withSuffix(part, suffix);
    if (shown.functionCall !== undefined && signature !== undefined) {
      shown = { ...shown, thoughtSignature: shown.thoughtSignature ?? signature };
      signature = undefined;
    }
    kept.push(shown);
  }
  return kept;
}

function withSuffix(part: Part, suffix: number): Part {
  const renamed = <Call extends FunctionCall | FunctionResponse>(call: Call): Call => {
    return { ...call, id: `${call.id}-${suffix}` };
  };
  const { functionCall, functionResponse } = part;
  return {
    ...part,
    ...(functionCall && { functionCall: renamed(functionCall) }),
    ...(functionResponse && { functionResponse: renamed(functionResponse) }),
  };
}
