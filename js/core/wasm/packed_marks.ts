/**
 * Packs the marks of a history for the wasm, and unpacks the view that it computes. Objects would cost more than the
 * view. The numbers of the lists have their names from `src/wasm/bindings/packed/numbers.rs`.
 */
import {
  CallNumber,
  callHistoryView,
  ChangeNumber,
  HistoryNumber,
  ItemNumber,
  MarkNumber,
  PauseNumber,
  ResponseNumber,
  ViewNumber,
} from './core.js';
import { NO_ID, READERS } from './protocol.js';

/** The mark of an event. */
export interface Mark {
  /** One of `MARK_KINDS`. */
  readonly kind: number;
  /** The number of its invocation; below 0 without one. */
  readonly invocation: number;
  readonly time: number;
  /** The number of the invocation that a rewind names, the start of a compaction, or the end of a compacted event. */
  readonly first: number;
  /** The end of a compaction. */
  readonly second: number;
}

/** What the rules for function calls need to know of an event. */
export interface Traits {
  /** A sum of `EVENT_FLAGS`. */
  readonly flags: number;
  /** The number of its author. */
  readonly author: number;
}

export interface CallMark {
  /** The index of its event. */
  readonly event: number;
  readonly id: number | undefined;
  /** The id of the call that it asks about. */
  readonly about: number | undefined;
  /** A sum of `CALL_FLAGS`. */
  readonly flags: number;
}

export interface ResponseMark {
  /** The index of its event. */
  readonly event: number;
  readonly id: number;
}

export interface PauseMark {
  /** The index of its event. */
  readonly event: number;
  readonly node: number;
  readonly isWaiting: boolean;
}

/** What the wasm needs to know of a history. Equal names have equal numbers. */
export interface HistoryMarks {
  /** One for each event. */
  readonly marks: readonly Mark[];
  /** One for each event. */
  readonly traits: readonly Traits[];
  readonly calls: readonly CallMark[];
  readonly responses: readonly ResponseMark[];
  readonly pauses: readonly PauseMark[];
}

/** A view of a history. Numbers are indices of events. */
export interface HistoryItems {
  readonly items: readonly HistoryItem[];
  /** The events of a transcript that a summary stands for. */
  readonly summarised: readonly number[];
  /** The function calls and responses that a framework does not get as they are stored. */
  readonly changes: readonly PartChange[];
  /** An event that waits, if the framework's own summary is not older. */
  readonly firstWaiting: number | undefined;
  /** The events that invocations wait at: with open calls, or of nodes that wait. */
  readonly waiting: readonly number[];
}

/** A stored event, or the summary of a compaction. */
export interface HistoryItem {
  readonly event: number;
  readonly isSummary: boolean;
  /** The last event of an agent that the summary hides. */
  readonly agentEvent: number | undefined;
  /** The event that the summary follows, if no event of its range waits: shown or hidden. */
  readonly follows: number | undefined;
}

/** A function call or response that changes. `index` is that in the list of calls or of responses. */
export interface PartChange {
  readonly isResponse: boolean;
  readonly index: number;
  /** What its id ends with; 0 if the part is left out. */
  readonly suffix: number;
}

/** Computes which events of a history count for a reader. */
export function historyItems(marks: HistoryMarks, reader: keyof typeof READERS): HistoryItems {
  return unpackView(callHistoryView(packMarks(marks, READERS[reader])));
}

function packMarks(
  { marks, traits, calls, responses, pauses }: HistoryMarks,
  reader: number,
): Float64Array {
  const numbers = new Float64Array(
    HistoryNumber.Length +
      marks.length * MarkNumber.Length +
      calls.length * CallNumber.Length +
      responses.length * ResponseNumber.Length +
      pauses.length * PauseNumber.Length,
  );
  numbers[HistoryNumber.Reader] = reader;
  numbers[HistoryNumber.Marks] = marks.length;
  numbers[HistoryNumber.Calls] = calls.length;
  numbers[HistoryNumber.Responses] = responses.length;
  numbers[HistoryNumber.Pauses] = pauses.length;
  let at: number = HistoryNumber.Length;
  marks.forEach(({ kind, invocation, time, first, second }, index) => {
    numbers[at + MarkNumber.Kind] = kind;
    numbers[at + MarkNumber.Invocation] = invocation;
    numbers[at + MarkNumber.Time] = time;
    numbers[at + MarkNumber.First] = first;
    numbers[at + MarkNumber.Second] = second;
    numbers[at + MarkNumber.Flags] = traits[index]?.flags ?? 0;
    numbers[at + MarkNumber.Author] = traits[index]?.author ?? 0;
    at += MarkNumber.Length;
  });
  for (const { event, id = NO_ID, about = NO_ID, flags } of calls) {
    numbers[at + CallNumber.Event] = event;
    numbers[at + CallNumber.Id] = id;
    numbers[at + CallNumber.About] = about;
    numbers[at + CallNumber.Flags] = flags;
    at += CallNumber.Length;
  }
  for (const { event, id } of responses) {
    numbers[at + ResponseNumber.Event] = event;
    numbers[at + ResponseNumber.Id] = id;
    at += ResponseNumber.Length;
  }
  for (const { event, node, isWaiting } of pauses) {
    numbers[at + PauseNumber.Event] = event;
    numbers[at + PauseNumber.Node] = node;
    numbers[at + PauseNumber.Waits] = isWaiting ? 1 : 0;
    at += PauseNumber.Length;
  }
  return numbers;
}

function unpackView(numbers: Uint32Array): HistoryItems {
  const number = (at: number): number => numbers[at] ?? 0;
  let at: number = ViewNumber.Length;
  // No slices: for a long history each takes more time than an item.
  const listOf = <Item>(
    count: number,
    length: number,
    itemAt: (start: number) => Item,
  ): readonly Item[] => {
    return Array.from({ length: count }, () => itemAt((at += length) - length));
  };
  const items = listOf(number(ViewNumber.Items), ItemNumber.Length, (start): HistoryItem => {
    const agent = number(start + ItemNumber.Agent);
    const follows = number(start + ItemNumber.Follows);
    return {
      event: number(start + ItemNumber.Event),
      isSummary: agent > 0,
      agentEvent: agent > 1 ? agent - 2 : undefined,
      follows: follows > 0 ? follows - 1 : undefined,
    };
  });
  const summarised = listOf(number(ViewNumber.Summarised), 1, number);
  const changes = listOf(number(ViewNumber.Changes), ChangeNumber.Length, (start): PartChange => {
    return {
      isResponse: number(start + ChangeNumber.IsResponse) === 1,
      index: number(start + ChangeNumber.Index),
      suffix: number(start + ChangeNumber.Suffix),
    };
  });
  const waiting = listOf(number(ViewNumber.Waiting), 1, number);
  const firstWaiting = number(ViewNumber.FirstWaiting);
  return {
    ...{ items, summarised, changes, waiting },
    firstWaiting: firstWaiting > 0 ? firstWaiting - 1 : undefined,
  };
}
