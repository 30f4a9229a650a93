/** The reports of runs, as they come from a server's feed or from another process. */
import type { Draft, RunReport } from '../../core/run_report.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import { isObject } from '../../values/json/rules.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { isId, keyText } from '../../values/model/values/ids.js';

/**
 * Returns the report that a server or another process has sent. Ignores members that this version does not know.
 *
 * @param reports the last reports, by session: this one may say only what has changed
 * @returns `undefined` if it is malformed, or follows a report that is not known
 */
export function reportIn(
  data: Readonly<Record<string, unknown>>,
  reports: ReadonlyMap<string, RunReport>,
): RunReport | undefined {
  const { appName, userId, sessionId, messageId, invocationId, status, error, number } = data;
  if (![appName, userId, sessionId, messageId, invocationId].every(isId)) return undefined;
  if (!['running', 'ended', 'failed', 'cancelled'].includes(status as string)) return undefined;
  const key = { appName, userId, sessionId } as CompositeSessionKey;
  const known = draftsIn(data, reports.get(keyText(key)));
  // The end of a run counts also if it says only what has changed since a report that was forgotten.
  const drafts = known ?? (status === 'running' ? undefined : []);
  if (drafts === undefined) return undefined;
  const wholes = Array.isArray(data.wholes) ? data.wholes.filter(isId) : [];
  const state = { messageId, invocationId, status } as Pick<
    RunReport,
    'messageId' | 'invocationId' | 'status'
  >;
  const mark = isRevision(number) && { number };
  const failure = isReportedError(error) && { error };
  return { ...key, ...mark, ...state, drafts, wholes, ...failure };
}

/** @param before the last report of the session */
function draftsIn(
  { drafts, changes, messageId }: Readonly<Record<string, unknown>>,
  before: RunReport | undefined,
): readonly Draft[] | undefined {
  if (Array.isArray(drafts)) return drafts.every(isDraft) ? drafts : undefined;
  if (!Array.isArray(changes) || before?.messageId !== messageId) return undefined;
  const next = [...before!.drafts];
  for (const change of changes as readonly unknown[]) {
    if (!isObject(change)) return undefined;
    const { index, text, draft } = change;
    // A draft that is new comes at the end.
    if (!isRevision(index) || index > next.length) return undefined;
    const changed = draft ?? grown(next[index], text);
    if (!isDraft(changed)) return undefined;
    next[index] = changed;
  }
  return next;
}

function grown(draft: Draft | undefined, text: unknown): Draft | undefined {
  const parts = draft?.event.content?.parts ?? [];
  const last = parts.at(-1);
  if (draft === undefined || last?.text === undefined || typeof text !== 'string') return undefined;
  const { event, ...rest } = draft;
  const joined = [...parts.slice(0, -1), { ...last, text: last.text + text }];
  return { ...rest, event: { ...event, content: { ...event.content, parts: joined } } };
}

/** Whether a draft has what a view reads of it. */
function isDraft(value: unknown): value is Draft {
  if (!isObject(value) || !isObject(value.event)) return false;
  const { id, content = {}, actions = {} } = value.event;
  if (!isId(id) || !isObject(content) || !isObject(actions)) return false;
  const { parts = [] } = content;
  const areParts =
    Array.isArray(parts) && parts.every((part) => isObject(part) && isText(part.text));
  return areParts && isText(value.endedBy);
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isReportedError(error: unknown): error is NonNullable<RunReport['error']> {
  return isObject(error) && typeof error.code === 'string' && typeof error.message === 'string';
}
