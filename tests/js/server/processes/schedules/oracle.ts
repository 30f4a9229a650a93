// What must hold after a schedule, whatever happened in it.

import type { Event } from '../../../../../js/index.js';
import { runStatusOf } from '../../../../../js/service/runs/agent/run_status.js';
import { rewindTargetOf } from '../../../../../js/values/model/event/markers.js';
import { partsOf } from '../../../../../js/values/model/event/parts.js';
import { isStopped } from '../../../../../js/values/model/event/shown.js';
import { isAbort } from '../../../../../js/values/model/event/waiting.js';
import type { Call, Page } from './page.js';

/** A schedule that is over. */
export interface Outcome {
  /** All stored events, with undone ones; `undefined` if the session is deleted. */
  readonly events: readonly Event[] | undefined;
  readonly pages: readonly Page[];
  readonly modelCalls: readonly (readonly [invocationId: string, asked: unknown])[];
  readonly hasChannel: boolean;
  /** Whether a server was killed, or a channel was cut. */
  readonly wasKilled: boolean;
  readonly wasCut: boolean;
}

const isMessage = (event: Event): boolean => event.author === 'user' && partsOf(event).length > 0;
const textOf = (event: Event): string => JSON.stringify(event.content?.parts);

/** Returns what is wrong; empty if nothing. */
export function problemsOf(outcome: Outcome): string[] {
  const calls = outcome.pages.flatMap((page) => page.calls);
  return [
    ...lostMessages(outcome, calls),
    ...repeatedCalls(outcome, calls),
    ...lateEvents(outcome),
    ...wrongEnds(outcome, calls),
  ];
}

/** Each acknowledged message is stored once. */
function lostMessages({ events = [], pages }: Outcome, calls: readonly Call[]): string[] {
  const problems: string[] = [];
  const ids = events.map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`${id}: twice`);
  const deletions = calls.filter(({ kind, error }) => kind === 'delete' && error === undefined);
  const hasCancelled = calls.some(({ kind }) => kind === 'cancel');
  for (const { message, isCached, began } of calls) {
    if (message === undefined || ids.includes(message.id)) continue;
    // What waits in an outbox is refused after the deletion, given up by a cancel, or shown as refused.
    const isDeleted = deletions.some(({ ended = Infinity }) => isCached || began < ended);
    const isRefused = pages.some(({ chat }) => message.id in chat.getSnapshot().unsent);
    const mayLack = isDeleted || (isCached && (hasCancelled || isRefused));
    if (!mayLack) problems.push(`acknowledged and not stored: ${textOf(message)}`);
  }
  return problems;
}

/** No model is called twice for one message, and none for a message that is not stored. */
function repeatedCalls({ modelCalls, events = [] }: Outcome, calls: readonly Call[]): string[] {
  const texts = modelCalls.map((call) => JSON.stringify(call));
  const repeated = texts.filter((text, at) => texts.indexOf(text) !== at);
  const stored = new Set(events.map(({ invocationId }) => invocationId));
  const isDeleted = calls.some(({ kind }) => kind === 'delete');
  const unknown = isDeleted ? [] : modelCalls.filter(([id]) => !stored.has(id));
  return [
    ...repeated.map((text) => `the model is called twice: ${text}`),
    ...unknown.map((call) => `the model is called for no stored message: ${JSON.stringify(call)}`),
  ];
}

/**
 * Nothing is stored of a run that has ended, that a rewind has undone, or after another run has begun. Without a channel
 * that is well, a run that has its answer may store more.
 */
function lateEvents({ events = [], hasChannel, wasKilled, wasCut }: Outcome): string[] {
  const isStrict = hasChannel && !wasKilled && !wasCut;
  const problems: string[] = [];
  const order: string[] = [];
  const undone = new Set<string>();
  const ended = new Set<string>();
  let newest: { readonly invocationId: string; readonly at: number } | undefined;
  events.forEach((event, at) => {
    const { invocationId } = event;
    const target = rewindTargetOf(event);
    if (target !== undefined) {
      for (const id of order.slice(order.indexOf(target))) undone.add(id);
      return;
    }
    if (isMessage(event)) {
      newest = { invocationId, at };
      ended.delete(invocationId);
      order.push(invocationId);
      return;
    }
    const what = `${textOf(event)} ${event.errorCode ?? ''} of ${invocationId}`;
    if (undone.has(invocationId)) problems.push(`stored although undone: ${what}`);
    else if (ended.has(invocationId)) problems.push(`stored after its end: ${what}`);
    else if (newest !== undefined && newest.invocationId !== invocationId) {
      const before = events.slice(0, newest.at);
      const hadAnswer = runStatusOf(event, before) === undefined;
      if (isStrict || !hadAnswer) problems.push(`stored after another message: ${what}`);
    }
    if (isAbort(event) || isStopped(event)) ended.add(invocationId);
  });
  return problems;
}

/** Each message that nothing has undone, ended or killed has its answer. */
function wrongEnds({ events = [], wasKilled, wasCut }: Outcome, calls: readonly Call[]): string[] {
  const kinds = new Set(calls.map(({ kind }) => kind));
  const mayEnd =
    wasKilled || wasCut || (['cancel', 'edit', 'regenerate', 'rewind', 'slow'] as const).some((kind) => kinds.has(kind)); // prettier-ignore
  const targets = events.flatMap((event) => rewindTargetOf(event) ?? []);
  const order = events.filter(isMessage).map(({ invocationId }) => invocationId);
  const isUndone = ({ invocationId }: Event): boolean =>
    targets.some((target) => order.indexOf(target) <= order.indexOf(invocationId));
  return events.flatMap((event, at) => {
    if (!isMessage(event) || isUndone(event)) return [];
    const status = runStatusOf(event, events.slice(at + 1))?.status;
    const isRight =
      status === undefined ||
      (status === 'cancelled' && mayEnd) ||
      (status === 'unanswered' && wasKilled);
    return isRight ? [] : [`${status}: ${textOf(event)}`];
  });
}
