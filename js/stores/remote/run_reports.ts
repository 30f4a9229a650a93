import { sessionName } from '../../values/model/values/session_name.js';
import type { Draft, DraftChange, ReportListener, RunReport } from '../../core/run_report.js';
import { isEvent } from '../../core/storage/stored_events.js';
import { isObject, isPlainObject } from '../../values/json/rules.js';
import { isId } from '../../values/model/values/ids.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { belongsTo, type StateOwner } from '../../core/storage/scopes.js';

/** The listeners of one session. */
interface SessionListeners {
  readonly key: CompositeSessionKey;
  readonly listeners: Set<ReportListener>;
}

/** The last reports of a server about the runs of its sessions. */
export class RunReports {
  readonly #reports = new Map<string, RunReport>();
  readonly #listeners = new Map<string, SessionListeners>();
  /** The owners whose feeds are open and have told all runs, by their names. */
  readonly #told = new Map<string, StateOwner>();

  /** Returns the last report of a session. */
  of(key: CompositeSessionKey): RunReport | undefined {
    return this.#reports.get(sessionName(key));
  }

  /** Calls a function with what is known of a session, and with each report, until the returned function is called. */
  follow(key: CompositeSessionKey, listener: ReportListener): () => void {
    const name = sessionName(key);
    const followed = this.#listeners.get(name) ?? { key, listeners: new Set() };
    const { listeners } = followed;
    listeners.add(listener);
    this.#listeners.set(name, followed);
    if (this.#isKnown(key)) {
      queueMicrotask(() => void (listeners.has(listener) && listener(this.of(key), true)));
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
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
      const report = this.#reportIn(data);
      if (report !== undefined) this.#put(report);
      return true;
    }
    if (data.type !== 'runs') return false;
    const given: unknown[] = Array.isArray(data.runs) ? data.runs : [];
    const reports = given.flatMap((each) => (isObject(each) ? (this.#reportIn(each) ?? []) : []));
    const names = new Set(reports.map(sessionName));
    for (const [name, report] of [...this.#reports]) {
      if (belongsTo(report, owner) && !names.has(name)) this.#reports.delete(name);
    }
    for (const report of reports) this.#reports.set(sessionName(report), report);
    this.#told.set(JSON.stringify(owner), owner);
    // Also listeners of sessions without a report: their run may have ended while the feed was cut.
    this.#tell(owner, true);
    return true;
  }

  /** Notes that the feed of an owner has ended, so that nothing is known of its runs. */
  end(owner: StateOwner): void {
    this.#told.delete(JSON.stringify(owner));
    for (const [name, report] of [...this.#reports]) {
      if (belongsTo(report, owner) && !this.#isKnown(report)) this.#reports.delete(name);
    }
    this.#tell(owner, false);
  }

  /** Whether an open feed tells of a session's runs. */
  #isKnown(key: CompositeSessionKey): boolean {
    return [...this.#told.values()].some((owner) => belongsTo(key, owner));
  }

  /** Calls the listeners of those sessions of an owner whose runs are known, or of those whose are not. */
  #tell(owner: StateOwner, isKnown: boolean): void {
    for (const { key, listeners } of [...this.#listeners.values()]) {
      if (!belongsTo(key, owner) || this.#isKnown(key) !== isKnown) continue;
      for (const listener of [...listeners]) listener(this.of(key), isKnown);
    }
  }

  #put(report: RunReport): void {
    const name = sessionName(report);
    if (report.status === 'ended') this.#reports.delete(name);
    else this.#reports.set(name, report);
    for (const listener of [...(this.#listeners.get(name)?.listeners ?? [])])
      listener(report, true);
  }

  #reportIn(data: Readonly<Record<string, unknown>>): RunReport | undefined {
    const { appName, userId, sessionId, messageId, invocationId, status, error } = data;
    if (![appName, userId, sessionId, messageId, invocationId].every(isId)) return undefined;
    if (!['running', 'ended', 'failed', 'cancelled'].includes(status as string)) return undefined;
    const key = { appName, userId, sessionId } as CompositeSessionKey;
    const drafts = this.#draftsIn(key, data);
    if (drafts === undefined) return undefined;
    const wholes = Array.isArray(data.wholes) ? data.wholes.filter(isId) : [];
    const reportedError = isPlainObject(error)
      ? { code: String(error.code), message: String(error.message) }
      : undefined;
    const state = { messageId, invocationId, status } as Pick<
      RunReport,
      'messageId' | 'invocationId' | 'status'
    >;
    return { ...key, ...state, drafts, wholes, ...(reportedError && { error: reportedError }) };
  }

  #draftsIn(
    key: CompositeSessionKey,
    { drafts, changes, messageId }: Readonly<Record<string, unknown>>,
  ): readonly Draft[] | undefined {
    if (Array.isArray(drafts)) return drafts.every(isDraft) ? drafts : undefined;
    const before = this.of(key);
    if (!Array.isArray(changes) || before?.messageId !== messageId) return undefined;
    const next = [...before!.drafts];
    for (const change of changes as readonly DraftChange[]) {
      const changed = 'draft' in change ? change.draft : grown(next[change.index], change.text);
      if (changed === undefined || !isDraft(changed)) return undefined;
      next[change.index] = changed;
    }
    return next;
  }
}

function grown(draft: Draft | undefined, text: string): Draft | undefined {
  const parts = draft?.event.content?.parts ?? [];
  const last = parts.at(-1);
  if (draft === undefined || last?.text === undefined) return undefined;
  const { event, ...rest } = draft;
  const joined = [...parts.slice(0, -1), { ...last, text: last.text + text }];
  return { ...rest, event: { ...event, content: { ...event.content, parts: joined } } };
}

function isDraft(value: unknown): value is Draft {
  return isObject(value) && isEvent(value.event) && isId(value.event.id);
}
