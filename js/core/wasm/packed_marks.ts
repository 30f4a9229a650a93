/**
 * Packs the marks of a history for the wasm, and unpacks what it computes of them. Objects would cost more than a
 * view. The numbers of the lists have their names from `src/wasm/bindings/packed/numbers.rs`.
 */
import {
  askHistory,
  BranchNumber,
  CallNumber,
  ChangeNumber,
  HistoryNumber,
  ItemNumber,
  MarkNumber,
  PauseNumber,
  ResponseNumber,
  ViewNumber,
} from './core.js';
import { ANSWERS, NO_ID, PLACES, QUESTIONS, READERS } from './protocol.js';

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
export interface HistoryMarks extends Partial<CallLists> {
  /** One for each event. */
  readonly marks: readonly Mark[];
  /** The numbers of invocations that begin before the events. */
  readonly older?: readonly number[];
}

/** The function calls of a history. The rules of rewinds alone need none. */
export interface CallLists {
  /** For each event a sum of `EVENT_FLAGS`. */
  readonly eventFlags: readonly number[];
  readonly calls: readonly CallMark[];
  readonly responses: readonly ResponseMark[];
  readonly pauses: readonly PauseMark[];
}

export type Reader = keyof typeof READERS;

/** A place in a view: that of a stored event, that where the view shows an event, or the summary of a compaction. */
export interface ViewPlace {
  readonly kind: keyof typeof PLACES;
  /** The index of the event or of the compaction. */
  readonly event: number;
}

/** Which part of a view is asked for. */
export interface PartRequest {
  readonly question: 'view' | 'tail' | 'page';
  /** How many items; absent: all. */
  readonly count?: number | undefined;
  /**
   * The index of the first known event. Before it are markers and the first events of the invocations that rewinds
   * name. Absent: all events are known.
   */
  readonly knownFrom?: number | undefined;
  /** Whether there are no events before these. */
  readonly isFromStart?: boolean | undefined;
  /** The place that a page follows or ends before. */
  readonly place?: ViewPlace | undefined;
  /** Whether a page follows its place. */
  readonly isAfter?: boolean | undefined;
}

/** What is asked about a history. */
type HistoryQuestion = Omit<PartRequest, 'question'> & {
  readonly question: keyof typeof QUESTIONS;
  /** The numbers of ids of calls. */
  readonly asked?: readonly number[];
};

/** What the wasm answers if the given events do not decide. */
export interface Undecided {
  readonly answer: (typeof ANSWERS)[number];
  /** The index of the event before which the next events to read end. Those from it on are known, or undone. */
  readonly before: number;
}

/** A view of a history, or a part of it. Numbers are indices of events. */
export interface HistoryItems {
  readonly items: readonly HistoryItem[];
  /** The events of a transcript that a summary stands for. */
  readonly summarised: readonly number[];
  /** The function calls and responses that a model does not get as they are stored. */
  readonly changes: readonly PartChange[];
  /** An event that waits, if the framework's own summary is not older. */
  readonly firstWaiting: number | undefined;
  /** Where the items begin in the whole view. */
  readonly start: number;
  /** How many items the whole view has. */
  readonly total: number;
  /** The stored events that cursors of a page name. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** A stored event, or the summary of a compaction. */
export interface HistoryItem {
  readonly event: number;
  readonly isSummary: boolean;
  /** The last event of an agent that the summary hides. */
  readonly agentEvent: number | undefined;
}

/** A function call or response that changes. `index` is that in the list of calls or of responses. */
export interface PartChange {
  readonly isResponse: boolean;
  readonly index: number;
  /** What its id ends with; 0 if the part is left out. */
  readonly suffix: number;
}

/** One of several turns that follow the same history. Numbers are indices of events. */
export interface HistoryBranch {
  /** The first event of the turn before it. */
  readonly after: number | undefined;
  /** The first event of the turn. */
  readonly event: number;
  readonly isShown: boolean;
  /** The rewind that ended a branch with the turn. */
  readonly endedBy: number | undefined;
}

/** Computes which events of a history count for a reader. */
export function historyItems(marks: HistoryMarks, reader: Reader): HistoryItems {
  return unpackView(askHistory(packMarks(marks, reader, { question: 'view' })));
}

/** Computes a part of what {@link historyItems} returns. */
export function partOfItems(
  marks: HistoryMarks,
  reader: Reader,
  request: PartRequest,
): HistoryItems | Undecided {
  const numbers = askHistory(packMarks(marks, reader, request));
  if (numbers.length >= (ViewNumber.Length as number)) return unpackView(numbers);
  const [answer = 0, before = 0] = numbers;
  return { answer: ANSWERS[answer]!, before };
}

/** Returns the indices of the events that no rewind has undone. */
export function askActiveEvents(marks: HistoryMarks): Uint32Array {
  return askHistory(packMarks(marks, 'transcript', { question: 'activeEvents' }));
}

/**
 * Lists the branches of a history by the turns that they follow. Events of the kinds `message` and `answer` begin
 * turns.
 *
 * @param from the event from whose turn on branches are wanted; below 0 for all
 * @param isFromStart whether there are no events before these
 */
export function historyBranches(
  marks: HistoryMarks,
  from: number,
  isFromStart: boolean,
): { readonly branches: HistoryBranch[]; readonly isDecided: boolean } {
  const place = from < 0 ? undefined : ({ kind: 'stored', event: from } as const);
  const question = { question: 'branches', place, isFromStart } as const;
  const [isDecided, ...numbers] = askHistory(packMarks(marks, 'transcript', question));
  const length = numbers.length / BranchNumber.Length;
  const branches = Array.from({ length }, (_, at): HistoryBranch => {
    const start = at * BranchNumber.Length;
    return {
      after: indexAt(numbers, start + BranchNumber.After),
      event: numbers[start + BranchNumber.Event]!,
      isShown: numbers[start + BranchNumber.IsShown] === 1,
      endedBy: indexAt(numbers, start + BranchNumber.EndedBy),
    };
  });
  return { branches, isDecided: isDecided === 1 };
}

/**
 * Returns the indices of the open calls with the ids `asked`. `undefined`: events before these may decide.
 *
 * @param isFromStart whether there are none
 */
export function openCallItems(
  marks: HistoryMarks,
  asked: readonly number[],
  isFromStart: boolean,
): Uint32Array | undefined {
  const question = { question: 'openCalls', isFromStart, asked } as const;
  const numbers = askHistory(packMarks(marks, 'transcript', question));
  return numbers[0] === 1 ? numbers.subarray(1) : undefined;
}

function packMarks(
  { marks, older = [], eventFlags = [], calls = [], responses = [], pauses = [] }: HistoryMarks,
  reader: Reader,
  request: HistoryQuestion,
): Float64Array {
  const { question, count, knownFrom, isFromStart, place, isAfter, asked = [] } = request;
  const numbers = new Float64Array(
    HistoryNumber.Length +
      marks.length * MarkNumber.Length +
      calls.length * CallNumber.Length +
      responses.length * ResponseNumber.Length +
      pauses.length * PauseNumber.Length +
      older.length +
      asked.length,
  );
  numbers[HistoryNumber.Reader] = READERS[reader];
  numbers[HistoryNumber.Marks] = marks.length;
  numbers[HistoryNumber.Calls] = calls.length;
  numbers[HistoryNumber.Responses] = responses.length;
  numbers[HistoryNumber.Pauses] = pauses.length;
  numbers[HistoryNumber.Older] = older.length;
  numbers[HistoryNumber.Asked] = asked.length;
  numbers[HistoryNumber.Question] = QUESTIONS[question];
  numbers[HistoryNumber.Count] = count ?? NaN;
  numbers[HistoryNumber.KnownFrom] = knownFrom ?? NaN;
  numbers[HistoryNumber.IsFromStart] = isFromStart === true ? 1 : 0;
  numbers[HistoryNumber.Place] = PLACES[place?.kind ?? 'none'];
  numbers[HistoryNumber.PlaceEvent] = place?.event ?? 0;
  numbers[HistoryNumber.IsAfter] = isAfter === true ? 1 : 0;
  let at: number = HistoryNumber.Length;
  marks.forEach(({ kind, invocation, time, first, second }, index) => {
    numbers[at + MarkNumber.Kind] = kind;
    numbers[at + MarkNumber.Invocation] = invocation;
    numbers[at + MarkNumber.Time] = time;
    numbers[at + MarkNumber.First] = first;
    numbers[at + MarkNumber.Second] = second;
    numbers[at + MarkNumber.Flags] = eventFlags[index] ?? 0;
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
  numbers.set(older, at);
  numbers.set(asked, at + older.length);
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
    return {
      event: number(start + ItemNumber.Event),
      isSummary: agent > 0,
      agentEvent: agent > 1 ? agent - 2 : undefined,
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
  return {
    items,
    summarised,
    changes,
    firstWaiting: indexAt(numbers, ViewNumber.FirstWaiting),
    start: number(ViewNumber.Start),
    total: number(ViewNumber.Total),
    first: indexAt(numbers, ViewNumber.First),
    last: indexAt(numbers, ViewNumber.Last),
  };
}

/** Returns an index, which is packed plus 1. */
function indexAt(numbers: ArrayLike<number>, at: number): number | undefined {
  const packed = numbers[at] ?? 0;
  return packed > 0 ? packed - 1 : undefined;
}
