/**
 * The machine of runs: what a program knows of the runs of one session, and what it does when something happens. It is
 * pure. A page, its other tabs and a server differ only in who tells what has happened, and in who carries out what to
 * do.
 *
 * | phase | what is known of the message | `run.status` |
 * |---|---|---|
 * | waiting | its program has not begun to send it | queued |
 * | sending | its turn has come, and nobody knows yet whether it is stored | queued |
 * | stored | it is stored, and nobody has told yet what became of its run | queued |
 * | running | an agent answers it | running |
 * | over | the agent has ended. The stored events tell whether it has answered or asks the user | absent |
 * | failed, cancelled | the run ended so | failed, cancelled |
 *
 * A message leaves the table if it was refused, if it was given up before it was stored, and if its program is gone.
 * The stored events alone tell of the last that it is `unanswered`.
 */
import { type Draft, keptDrafts } from '../../core/run_report.js';
import type { Report, SessionRun } from './agent/run_status.js';

type Phase = 'waiting' | 'sending' | 'stored' | 'running' | 'over' | 'failed' | 'cancelled';

/** A message and its run. */
export interface MessageRun {
  /** The id of the message. Empty if another tab runs and has not told the message. */
  readonly id: string;
  readonly phase: Phase;
  /** Whether this program has asked the message. */
  readonly isOwn: boolean;
  /** The calls that the message answers. */
  readonly callIds: readonly string[];
  /** Whether a rewind stores the message, so that it comes before those that wait. */
  readonly isOfRewind: boolean;
  /** Whether this program has asked to cancel it. */
  readonly isStopping: boolean;
  /** Whether the server has refused it for now, because agents run. It is sent again after the next end of a run. */
  readonly isHeld: boolean;
  readonly invocationId: string;
  readonly drafts: readonly Draft[];
  /** The ids of the run's whole events. */
  readonly wholes: readonly string[];
  readonly error?: SessionRun['error'];
}

/** The runs of one session. */
export interface RunsOfSession {
  /** In the order of their turns. Of those that have ended, only the last one. */
  readonly messages: readonly MessageRun[];
  /** Whether the messages that wait stay there until the next `ask` or `retry`. */
  readonly isPaused: boolean;
  /** Whether a run that fails or is cancelled holds up the messages behind it. An outbox decides that by itself. */
  readonly mayPause: boolean;
  /** Whether it is known what runs elsewhere. Until then no message counts as unanswered. */
  readonly isKnown: boolean;
}

/** What has happened. */
export type Happening =
  | { readonly type: 'asked'; readonly message: Asked }
  /** The turn of a message has come. */
  | { readonly type: 'sent'; readonly id: string }
  /** A server has stored it, whose agent answers it. */
  | { readonly type: 'stored'; readonly id: string }
  /** The server has refused it for now, because agents run. */
  | { readonly type: 'held'; readonly id: string }
  /** Messages that were refused for now may be sent again. */
  | { readonly type: 'released' }
  /** It was not stored, or something else than this machine decides on its run. */
  | { readonly type: 'left'; readonly id: string; readonly pauses: boolean }
  /** A run has begun, gone on or ended, here or elsewhere. `undefined`: nothing runs elsewhere. */
  | { readonly type: 'told'; readonly report: Report | undefined }
  /** Nobody can tell any more what runs elsewhere. */
  | { readonly type: 'unknown' }
  | { readonly type: 'resumed' }
  /** `unanswered`: the newest message, if nobody has answered it. */
  | {
      readonly type: 'cancelled';
      readonly id: string | undefined;
      readonly unanswered: string | undefined;
    }
  /** The session is gone. */
  | { readonly type: 'abandoned' };

type Asked = Pick<MessageRun, 'id' | 'callIds' | 'isOfRewind'>;

/** What to do because of it. */
export type Effect =
  /** Give up a message that waits. */
  | { readonly type: 'drop'; readonly id: string }
  /** Stop a run, wherever it is, or store the end event of a message that nobody answers. */
  | { readonly type: 'stop'; readonly id: string };

/** The runs after something has happened, and what to do. */
export interface Step {
  readonly runs: RunsOfSession;
  readonly effects: readonly Effect[];
}

const NEW_MESSAGE: Omit<MessageRun, 'id'> = {
  phase: 'waiting',
  isOwn: true,
  isOfRewind: false,
  isStopping: false,
  isHeld: false,
  callIds: [],
  invocationId: '',
  drafts: [],
  wholes: [],
};

export function step(runs: RunsOfSession, happening: Happening): Step {
  const { messages } = runs;
  switch (happening.type) {
    case 'asked': {
      const asked: MessageRun = { ...NEW_MESSAGE, ...happening.message };
      const first = asked.isOfRewind ? messages.findIndex(isWaiting) : -1;
      const at = first < 0 ? messages.length : first;
      const next = [...messages.slice(0, at), asked, ...messages.slice(at)];
      return only({ ...runs, isPaused: false }, released(next));
    }
    case 'resumed':
      return only({ ...runs, isPaused: false }, released(messages));
    case 'released':
      return only(runs, released(messages));
    case 'sent':
      return only(runs, sent(messages, happening.id));
    case 'held':
      return only(runs, change(messages, happening.id, { phase: 'waiting', isHeld: true }));
    case 'stored': {
      // Its run may have been told before.
      const { phase } = messages.find(({ id }) => id === happening.id) ?? {};
      if (phase !== 'sending') return only(runs, messages);
      if (!runs.isKnown) return only(runs, change(messages, happening.id, { phase: 'stored' }));
      return only(runs, without(messages, happening.id));
    }
    case 'left': {
      const { id, pauses } = happening;
      const isStopping = messages.find((message) => message.id === id)?.isStopping === true;
      const isPaused = runs.isPaused || (runs.mayPause && pauses && !isStopping);
      return only({ ...runs, isPaused }, without(messages, id));
    }
    case 'told':
      return only(...told({ ...runs, isKnown: true }, happening.report));
    case 'unknown':
      return only({ ...runs, isKnown: false }, messages.filter(isUnsent));
    case 'cancelled':
      return cancelled(runs, happening.id, happening.unanswered);
    case 'abandoned': {
      const effects = messages.filter(isWaiting).map(({ id }) => ({ type: 'drop', id }) as const);
      return { runs: { ...runs, messages: messages.filter(isUnderWay) }, effects };
    }
  }
}

function sent(messages: readonly MessageRun[], id: string): MessageRun[] {
  const isOfRewind = messages.find((message) => message.id === id)?.isOfRewind === true;
  // What has ended before is over now. A rewind stops what runs, and that holds up nothing.
  const open = messages.filter(isOpen).map((message) => {
    return isOfRewind && isUnderWay(message) ? { ...message, isStopping: true } : message;
  });
  return change(open, id, { phase: 'sending' });
}

function told(
  runs: RunsOfSession,
  report: Report | undefined,
): [RunsOfSession, readonly MessageRun[]] {
  if (report === undefined) {
    // What a server has stored, or ran, is over.
    const left = runs.messages.filter(({ phase }) => phase !== 'stored').map(ended);
    return [runs, released(left)];
  }
  const { messageId: id, status, ...more } = report;
  const before =
    runs.messages.find((message) => message.id === id || message.id === report.askedAs) ??
    runs.messages.find(isUntold);
  const phase = status === 'ended' ? 'over' : status;
  const next: MessageRun = {
    ...NEW_MESSAGE,
    isOwn: false,
    ...before,
    error: undefined,
    ...more,
    id,
    phase,
  };
  // Only one agent answers at a time, so what else was stored or ran is over.
  const unsent = runs.messages.filter((message) => message !== before && isUnsent(message));
  const others = phase === 'running' ? unsent : released(unsent);
  const hasFailed = (phase === 'failed' || phase === 'cancelled') && before?.phase !== phase;
  // A failure of another program's message, or of one from before this page, holds up nothing.
  const pauses = runs.mayPause && hasFailed && next.isOwn && !next.isStopping;
  return [{ ...runs, isPaused: runs.isPaused || pauses }, [next, ...others]];
}

function cancelled(
  runs: RunsOfSession,
  id: string | undefined,
  unanswered: string | undefined,
): Step {
  const meant = runs.messages.filter(
    (message) => id === undefined || message.id === id || isUntold(message),
  );
  // Another tab may run an untold message, which is meant only if no known one is.
  const named = runs.messages.find((message) => message.id === id && isOpen(message));
  const target = named ?? meant.find(isUnderWay) ?? meant.find(isWaiting);
  if (target === undefined) {
    const left = id ?? unanswered;
    return { runs, effects: left === undefined ? [] : [{ type: 'stop', id: left }] };
  }
  if (isWaiting(target)) {
    const messages = without(runs.messages, target.id);
    return { runs: { ...runs, messages }, effects: [{ type: 'drop', id: target.id }] };
  }
  const messages = change(runs.messages, target.id, { isStopping: true });
  // At once, and not when it has ended: the next message may be asked before.
  const isPaused = runs.isPaused || (runs.mayPause && target.isOwn);
  const stopped = target.id || (id ?? unanswered ?? '');
  return { runs: { ...runs, messages, isPaused }, effects: [{ type: 'stop', id: stopped }] };
}

/** Returns the runs without the texts of those that are over: whoever shows them was told, and reads what is stored. */
export function withoutOldDrafts(runs: RunsOfSession): RunsOfSession {
  const isOld = (message: MessageRun): boolean =>
    !isOpen(message) && message.drafts.length + message.wholes.length > 0;
  if (!runs.messages.some(isOld)) return runs;
  const messages = runs.messages.map((message) => {
    if (!isOld(message)) return message;
    const status = message.phase === 'failed' ? 'failed' : 'ended';
    return { ...message, drafts: keptDrafts({ status, drafts: message.drafts }), wholes: [] };
  });
  return { ...runs, messages };
}

/** Returns the message that is to be sent next, if its turn has come. `isFree`: also while a run is under way. */
export function nextOf({ messages, isPaused }: RunsOfSession, isFree: boolean): string | undefined {
  const next = messages.find(isWaiting);
  // A rewind undoes what has failed, so nothing holds it up.
  if (next === undefined || (isPaused && !next.isOfRewind) || next.isHeld) return undefined;
  if (messages.some(({ phase }) => phase === 'sending')) return undefined;
  return isFree || next.isOfRewind || !messages.some(isUnderWay) ? next.id : undefined;
}

function only(runs: RunsOfSession, messages: readonly MessageRun[]): Step {
  return { runs: { ...runs, messages }, effects: [] };
}

function change(
  messages: readonly MessageRun[],
  id: string,
  changes: Partial<MessageRun>,
): MessageRun[] {
  return messages.map((message) => (message.id === id ? { ...message, ...changes } : message));
}

function without(messages: readonly MessageRun[], id: string): MessageRun[] {
  return messages.filter((message) => message.id !== id);
}

function released(messages: readonly MessageRun[]): readonly MessageRun[] {
  return messages.map((message) => (message.isHeld ? { ...message, isHeld: false } : message));
}

function ended(message: MessageRun): MessageRun {
  return message.phase === 'running' ? { ...message, phase: 'over' } : message;
}

export const isWaiting = ({ phase }: MessageRun): boolean => phase === 'waiting';
export const isUnsent = ({ phase }: MessageRun): boolean =>
  phase === 'waiting' || phase === 'sending';
/** Whether a message has had its turn, and its run has not ended. */
export const isUnderWay = ({ phase }: MessageRun): boolean =>
  phase === 'sending' || phase === 'stored' || phase === 'running';
export const isOpen = (message: MessageRun): boolean => isWaiting(message) || isUnderWay(message);
/** Whether another tab runs an agent, and has not told for which message. */
const isUntold = ({ id }: MessageRun): boolean => id === '';
