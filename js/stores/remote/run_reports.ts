import { keyText, isId } from '../../values/model/values/ids.js';
import type { FollowedKey } from '../../core/core_of.js';
import {
  type Draft,
  keptDrafts,
  type ReportListener,
  type ServerRunId,
  type RunReport,
} from '../../core/run_report.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import { isObject } from '../../values/json/rules.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { belongsTo, isWithin, type StateOwner } from '../../core/storage/scopes.js';

/** The listeners of one session, or of all sessions of a user. */
interface Followed {
  readonly key: FollowedKey;
  readonly listeners: Set<ReportListener>;
}

/** What the feed of an owner has told. */
interface ToldRuns {
  readonly owner: StateOwner;
  /** The last reports, by session. */
  readonly reports: Map<string, RunReport>;
  /**
   * The start of the server, and the number up to which the feed has told its runs. Absent from servers that do not
   * tell it.
   */
  readonly start: unknown;
  number: number;
}

/** The message of a run. */
export type MessageOfRun = CompositeSessionKey & Pick<RunReport, 'messageId' | 'invocationId'>;

/** A run that the answer to its message has named, and that no feed has told. */
interface BegunRun {
  readonly report: RunReport;
  readonly runId: ServerRunId;
}

/** The last reports of a server about the runs of its sessions. */
export class RunReports {
  readonly #followed = new Map<string, Followed>();
  /** By the names of their owners: the open feeds that have told all runs. */
  readonly #feeds = new Map<string, ToldRuns>();
  readonly #begun = new Map<string, BegunRun>();

  /** Returns the last report of a session. */
  of(key: CompositeSessionKey): RunReport | undefined {
    return this.#feedOf(key)?.reports.get(keyText(key));
  }

  /** Calls a function as `ServerAgent.follow`. */
  follow(key: FollowedKey, listener: ReportListener): () => void {
    const name = keyText(key);
    const followed = this.#followed.get(name) ?? { key, listeners: new Set() };
    const { listeners } = followed;
    listeners.add(listener);
    this.#followed.set(name, followed);
    const feed = this.#feedOf(key);
    if (feed !== undefined && key.sessionId !== undefined) {
      queueMicrotask(
        () => void (listeners.has(listener) && listener(feed.reports.get(name), true)),
      );
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#followed.delete(name);
    };
  }

  /**
   * Takes an event of a feed. Ignores reports that are malformed, and members that this version does not know.
   *
   * @param owner whose feed it is
   * @returns whether the event was about runs
   */
  receive(data: unknown, owner: StateOwner): boolean {
    if (!isObject(data)) return false;
    if (data.type === 'run') {
      const feed = this.#feeds.get(keyText(owner));
      const report = feed && this.#reportIn(data, feed);
      if (report === undefined) return true;
      feed!.number = Math.max(feed!.number, report.number ?? 0);
      this.#put(feed!, report);
      this.#forgetTold(feed!);
      // This was the end of an earlier run.
      const begun = this.#begun.get(keyText(report))?.report;
      if (begun !== undefined) this.#put(feed!, begun);
      return true;
    }
    if (data.type !== 'runs') return false;
    const given: unknown[] = Array.isArray(data.runs) ? data.runs : [];
    const number = isRevision(data.number) ? data.number : 0;
    const feed: ToldRuns = { owner, reports: new Map(), start: data.start, number };
    for (const each of given) {
      const report = isObject(each) ? this.#reportIn(each, feed) : undefined;
      if (report !== undefined) feed.reports.set(keyText(report), report);
    }
    this.#feeds.set(keyText(owner), feed);
    this.#forgetTold(feed);
    for (const [name, { report }] of this.#begun) {
      if (belongsTo(report, owner)) feed.reports.set(name, report);
    }
    // Also listeners of sessions without a report: their run may have ended while the feed was cut.
    this.#tell(owner, feed);
    return true;
  }

  /**
   * Notes that the server runs a message, as its answer says. The run counts as told, until the feed tells it or has
   * told later ones. A feed of another process of the server tells nothing of it: then the stored events decide.
   */
  noteBegun(run: MessageOfRun, runId: ServerRunId): void {
    const feed = this.#feedOf(run);
    // Without a listener nobody asks, and without a feed nothing would remove it.
    const isFollowed = this.#followed.has(keyText(run));
    if (!isFollowed || (feed !== undefined && hasTold(feed, runId))) return;
    const report: RunReport = { ...run, status: 'running', drafts: [], wholes: [] };
    this.#begun.set(keyText(run), { report, runId });
    if (feed !== undefined) this.#put(feed, report);
  }

  /** Drops the runs whose end a feed has told without them. */
  #forgetTold(feed: ToldRuns): void {
    for (const [name, { report, runId }] of [...this.#begun]) {
      if (!belongsTo(report, feed.owner) || !hasTold(feed, runId)) continue;
      this.#begun.delete(name);
      if (feed.reports.get(name) === report) this.#put(feed, { ...report, status: 'ended' });
    }
  }

  /** Forgets the runs of sessions that were deleted. */
  forget(deleted: FollowedKey): void {
    for (const { reports } of this.#feeds.values()) {
      for (const [name, report] of reports) {
        if (isWithin(report, deleted)) reports.delete(name);
      }
    }
  }

  /** Notes that the feed of an owner has ended. */
  end(owner: StateOwner): void {
    this.#feeds.delete(keyText(owner));
    for (const [name, { report }] of this.#begun) {
      if (belongsTo(report, owner)) this.#begun.delete(name);
    }
    this.#tell(owner, undefined);
  }

  /** Returns the feed that tells of a session's runs. That of the user has drafts, unlike that of the app. */
  #feedOf(key: StateOwner): ToldRuns | undefined {
    const feeds = [...this.#feeds.values()].filter(({ owner }) => belongsTo(key, owner));
    return feeds.find(({ owner }) => owner.userId !== undefined) ?? feeds[0];
  }

  /** Calls the listeners of an owner with what is known now, unless another feed tells them more. */
  #tell(owner: StateOwner, told: ToldRuns | undefined): void {
    for (const [name, { key, listeners }] of [...this.#followed]) {
      if (!belongsTo(key, owner)) continue;
      const feed = this.#feedOf(key);
      if (feed !== told && feed?.owner.userId !== undefined) continue;
      const report = feed?.reports.get(name);
      for (const listener of [...listeners]) listener(report, feed !== undefined);
    }
  }

  #put(feed: ToldRuns, report: RunReport): void {
    const name = keyText(report);
    if (report.status === 'ended') feed.reports.delete(name);
    else {
      const isOver = report.status !== 'running';
      feed.reports.set(name, isOver ? { ...report, drafts: keptDrafts(report) } : report);
    }
    if (this.#feedOf(report) !== feed) return;
    const { appName, userId } = report;
    for (const followed of [name, keyText({ appName, userId })]) {
      const { listeners = [] } = this.#followed.get(followed) ?? {};
      for (const listener of [...listeners]) listener(report, true);
    }
  }

  #reportIn(data: Readonly<Record<string, unknown>>, feed: ToldRuns): RunReport | undefined {
    const { appName, userId, sessionId, messageId, invocationId, status, error, number } = data;
    if (![appName, userId, sessionId, messageId, invocationId].every(isId)) return undefined;
    if (!['running', 'ended', 'failed', 'cancelled'].includes(status as string)) return undefined;
    const key = { appName, userId, sessionId } as CompositeSessionKey;
    const known = draftsIn(data, feed.reports.get(keyText(key)));
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
}

/** Whether a feed has told of a run, or comes from another process of the server. */
function hasTold({ start, number }: ToldRuns, runId: ServerRunId): boolean {
  return start !== runId.start || number >= runId.number;
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
