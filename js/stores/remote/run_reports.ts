import { keyText } from '../../values/model/values/ids.js';
import { backgroundTimer } from '../../core/call/lifetime.js';
import type { OpenMessage } from '../http/protocol.js';
import type { FollowedKey } from '../../core/core_of.js';
import {
  keptDrafts,
  type ReportListener,
  type ServerRunId,
  type RunReport,
} from '../../core/run_report.js';
import { reportIn } from './reported_run.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import { isObject } from '../../values/json/rules.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { belongsTo, isWithin, type StateOwner } from '../../core/storage/scopes.js';

/** The longest time of a timer in milliseconds. */
const MAX_MS = 2 ** 31 - 1;

/** The listeners of one session, or of all sessions of a user. */
interface Followed {
  readonly key: FollowedKey;
  readonly listeners: Set<ReportListener>;
}

/** What the feed of an owner has told. */
interface FeedReports {
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
  readonly #feeds = new Map<string, FeedReports>();
  readonly #begun = new Map<string, BegunRun>();
  /** By session: the message that another process of the server may be answering. */
  readonly #open = new Map<string, { readonly messageId: string; readonly end: () => void }>();

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
      const report = feed && reportIn(data, feed.reports);
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
    const feed: FeedReports = { owner, reports: new Map(), start: data.start, number };
    for (const each of given) {
      const report = isObject(each) ? reportIn(each, feed.reports) : undefined;
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
   * told later ones. A feed of another process without a channel tells nothing of it: then the stored events decide.
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

  /** Notes the message that another process may be answering, as an answer of the server says. */
  noteOpen(key: CompositeSessionKey, open: OpenMessage | undefined): void {
    const name = keyText(key);
    this.#open.get(name)?.end();
    if (open !== undefined) {
      const { messageId, leftMs } = open;
      const timer = backgroundTimer(() => this.noteOpen(key, undefined), Math.min(leftMs, MAX_MS));
      const end = (): void => {
        clearTimeout(timer);
        this.#open.delete(name);
      };
      this.#open.set(name, { messageId, end });
    }
    const { listeners = [] } = this.#followed.get(name) ?? {};
    const feed = this.#feedOf(key);
    for (const listener of [...listeners]) listener(feed?.reports.get(name), feed !== undefined);
  }

  /** See `ServerAgent`. */
  openMessage(key: CompositeSessionKey): string | undefined {
    return this.#open.get(keyText(key))?.messageId;
  }

  /** Drops the runs whose end a feed has told without them. */
  #forgetTold(feed: FeedReports): void {
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
  #feedOf(key: StateOwner): FeedReports | undefined {
    const feeds = [...this.#feeds.values()].filter(({ owner }) => belongsTo(key, owner));
    return feeds.find(({ owner }) => owner.userId !== undefined) ?? feeds[0];
  }

  /** Calls the listeners of an owner with what is known now, unless another feed tells them more. */
  #tell(owner: StateOwner, told: FeedReports | undefined): void {
    for (const [name, { key, listeners }] of [...this.#followed]) {
      if (!belongsTo(key, owner)) continue;
      const feed = this.#feedOf(key);
      if (feed !== told && feed?.owner.userId !== undefined) continue;
      const report = feed?.reports.get(name);
      for (const listener of [...listeners]) listener(report, feed !== undefined);
    }
  }

  #put(feed: FeedReports, report: RunReport): void {
    const name = keyText(report);
    const open = this.#open.get(name);
    if (open?.messageId === report.messageId) open.end();
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
}

/** Whether a feed has told of a run, or comes from another process of the server. */
function hasTold({ start, number }: FeedReports, runId: ServerRunId): boolean {
  return start !== runId.start || number >= runId.number;
}
