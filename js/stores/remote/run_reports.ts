import { keyText } from '../../values/model/values/ids.js';
import { backgroundTimer } from '../../core/call/lifetime.js';
import { EVENT_STREAM, FEED_HEADER, type OpenMessage } from '../http/protocol.js';
import type { FollowedKey } from '../../core/core_of.js';
import {
  keptDrafts,
  type ReportListener,
  type ServerRunId,
  type RunReport,
} from '../../core/run_report.js';
import { reportIn } from './reported_run.js';
import type { RunStream } from './run_stream.js';
import { isRevision } from '../../core/storage/checked_rows.js';
import { isObject } from '../../values/json/rules.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { belongsTo, isWithin, type StateOwner } from '../../core/storage/scopes.js';

/** The longest time of a timer in milliseconds. */
const MAX_MS = 2 ** 31 - 1;

/** The most streams of answers: over HTTP/1.1 a browser opens six connections to a host. */
const MAX_STREAMS = 2;

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

/** What the stream of an answer has told of the run of its message. */
interface StreamReports extends FeedReports {
  readonly run: MessageOfRun;
  /** Ends the stream. */
  readonly stop: () => void;
}

/** The last reports of a server about the runs of its sessions. */
export class RunReports {
  readonly #followed = new Map<string, Followed>();
  /** By the names of their owners: the open feeds that have told all runs. */
  readonly #feeds = new Map<string, FeedReports>();
  /** By session: the open streams of answers. For their session they count before the feeds. */
  readonly #streams = new Map<string, StreamReports>();
  readonly #begun = new Map<string, BegunRun>();
  /** By session: the last run whose end was told by something else than a feed, which may tell it later. */
  readonly #ended = new Map<string, MessageOfRun>();
  /** Whether streams are asked for: somebody between the server and the page may hold them back. */
  #acceptsStreams = true;
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
      if (listeners.size > 0) return;
      this.#followed.delete(name);
      // The session may be followed again at once.
      queueMicrotask(() => {
        if (!this.#followed.has(name)) this.#streams.get(name)?.stop();
      });
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
      if (report === undefined || this.#isOver(feed!, report)) return true;
      this.#dropOlderStream(feed, report);
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
    const before = this.#feeds.get(keyText(owner));
    for (const each of given) {
      const report = isObject(each) ? reportIn(each, feed.reports) : undefined;
      if (report === undefined || this.#isOver(feed, report)) continue;
      feed.reports.set(keyText(report), report);
      this.#dropOlderStream(before, report);
    }
    this.#feeds.set(keyText(owner), feed);
    this.#endTold(feed);
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
    const name = keyText(run);
    if (this.#ended.get(name)?.messageId === run.messageId) this.#ended.delete(name);
    const stream = this.#streams.get(name);
    // Only one agent answers at a time.
    if (stream?.run.messageId !== run.messageId) this.#dropStream(stream);
    const feed = this.#feedOf(run);
    // Without a listener nobody asks, and without a feed nothing would remove it.
    const isFollowed = this.#followed.has(name);
    if (!isFollowed || (feed !== undefined && hasTold(feed, runId))) return;
    const report: RunReport = { ...run, status: 'running', drafts: [], wholes: [] };
    this.#begun.set(name, { report, runId });
    if (feed !== undefined) this.#put(feed, report);
  }

  /**
   * Returns the headers of a request whose answer may be a stream with the reports of a run. Returns `undefined` if
   * nobody follows the session, if no feed of the user has told its start, or if as many streams are open as may be.
   */
  streamHeaders(key: CompositeSessionKey): Readonly<Record<string, string>> | undefined {
    // A host whose `fetch` reads no streams has no feed.
    const { start } = this.#userFeedOf(key) ?? {};
    if (typeof start !== 'string' || !/^[\w-]+$/.test(start)) return undefined;
    const mayAsk = this.#acceptsStreams && this.#streams.size < MAX_STREAMS;
    if (!mayAsk || !this.#followed.has(keyText(key))) return undefined;
    return { accept: `${EVENT_STREAM}, application/json`, [FEED_HEADER]: start };
  }

  /** Notes that an answer that may be a stream did not come in time. No further message asks for a stream. */
  noteLateStream(): void {
    this.#acceptsStreams = false;
  }

  /**
   * Reads the reports of a run from the stream of its answer, until the run has ended or the stream is cut. A feed of the
   * process that runs it reports it too: then the stream ends.
   */
  async readStream(
    run: MessageOfRun,
    runId: ServerRunId,
    stream: Pick<RunStream, 'read' | 'end'>,
  ): Promise<void> {
    const name = keyText(run);
    const { appName, userId, messageId } = run;
    const { start, number } = runId;
    const feed = this.#userFeedOf(run);
    // A feed that has ended told that nobody knows what runs, for example because a login has expired.
    const isWanted = feed !== undefined && feed.start !== start && this.#followed.has(name);
    if (!isWanted) return stream.end();
    const told: StreamReports = {
      owner: { appName, userId },
      reports: new Map(),
      start,
      number,
      run,
      stop: () => stream.end(),
    };
    // The message may have been sent again.
    this.#streams.get(name)?.stop();
    this.#streams.set(name, told);
    await stream.read((data) => {
      if (this.#streams.get(name) !== told || !isObject(data)) return;
      const report = reportIn(data, told.reports);
      if (report?.messageId !== messageId) return;
      if (report.status === 'running') this.#put(told, report);
      else this.#endRun(report);
    });
    // It was cut, if it is still there.
    if (this.#streams.get(name) === told) this.#dropStream(told);
  }

  /**
   * Notes that the server has cancelled a run. A process that runs it beside the one that was asked may notice that
   * later.
   */
  noteCancelled(key: CompositeSessionKey, messageId: string): void {
    const report = this.of(key);
    if (report?.status !== 'running' || report.messageId !== messageId) return;
    this.#endRun({ ...report, status: 'cancelled' });
  }

  /** Notes the message that another process may be answering, as an answer of the server says. */
  noteOpen(key: CompositeSessionKey, open: OpenMessage | undefined): void {
    const name = keyText(key);
    const before = this.openMessage(key);
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
    // A listener may read the session, and the answer to that read comes here again.
    if (open?.messageId === before) return;
    // Without a feed it is not known either what runs.
    if (this.#feedOf(key) !== undefined) this.#tellSession(key);
  }

  /** See `ServerAgent`. */
  openMessage(key: CompositeSessionKey): string | undefined {
    return this.#open.get(keyText(key))?.messageId;
  }

  /** Puts the end of a run, which its feed may tell later, and ends the stream of its answer. */
  #endRun(report: RunReport): void {
    const name = keyText(report);
    const stream = this.#streams.get(name);
    this.#streams.delete(name);
    stream?.stop();
    const { appName, userId, sessionId, messageId, invocationId } = report;
    this.#ended.set(name, { appName, userId, sessionId, messageId, invocationId });
    const feed = this.#feedOf(report);
    if (feed === undefined) return;
    const other = feed.reports.get(name);
    const hasOther = other?.status === 'running' && other.messageId !== messageId;
    // Only one agent answers at a time: the feed has told a later run, or will tell that the other one is over.
    if (hasOther) this.#tellSession(report);
    else this.#put(feed, report);
  }

  /** Whether a report of a feed continues a run whose end is known. */
  #isOver({ reports }: FeedReports, report: RunReport): boolean {
    if (report.status !== 'running') return false;
    const { messageId } = report;
    const name = keyText(report);
    const known = reports.get(name);
    const hasEnded = known?.messageId === messageId && known.status !== 'running';
    return hasEnded || this.#ended.get(name)?.messageId === messageId;
  }

  /** Ends the stream of an answer before its run has ended, and tells what is known without it. */
  #dropStream(stream: StreamReports | undefined): void {
    if (stream === undefined) return;
    const { run, stop } = stream;
    this.#streams.delete(keyText(run));
    stop();
    this.#tellSession(run);
  }

  /** Ends the stream of a session's answer, if a feed tells that a run of another message has begun since. */
  #dropOlderStream(feed: FeedReports | undefined, report: RunReport): void {
    const { status, messageId } = report;
    const name = keyText(report);
    const stream = this.#streams.get(name);
    if (status !== 'running' || stream === undefined || stream.run.messageId === messageId) return;
    // With a channel the feed may still tell an earlier run.
    if (feed?.reports.get(name)?.messageId === messageId) return;
    this.#streams.delete(name);
    stream.stop();
  }

  /** Ends the streams of answers whose runs a feed tells from now on. */
  #endTold({ owner, start }: FeedReports): void {
    if (owner.userId === undefined) return;
    for (const [name, stream] of this.#streams) {
      if (stream.start !== start || !belongsTo(stream.run, owner)) continue;
      this.#streams.delete(name);
      stream.stop();
    }
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
    for (const [name, { run, stop }] of this.#streams) {
      if (!isWithin(run, deleted)) continue;
      this.#streams.delete(name);
      stop();
    }
    for (const [name, run] of this.#ended) {
      if (isWithin(run, deleted)) this.#ended.delete(name);
    }
  }

  /** Notes that the feed of an owner has ended. The streams of a user's answers end with it. */
  end(owner: StateOwner): void {
    this.#feeds.delete(keyText(owner));
    for (const [name, { run, stop }] of this.#streams) {
      if (this.#userFeedOf(run) !== undefined) continue;
      this.#streams.delete(name);
      stop();
    }
    for (const [name, run] of this.#ended) {
      if (belongsTo(run, owner)) this.#ended.delete(name);
    }
    for (const [name, { report }] of this.#begun) {
      if (belongsTo(report, owner)) this.#begun.delete(name);
    }
    this.#tell(owner, undefined);
  }

  /** Returns what tells of a session's runs: the stream of an answer, or a feed. */
  #feedOf(key: FollowedKey): FeedReports | undefined {
    const feeds = [...this.#feeds.values()].filter(({ owner }) => belongsTo(key, owner));
    return this.#streams.get(keyText(key)) ?? this.#userFeedOf(key) ?? feeds[0];
  }

  /** Returns the feed of a user, which has drafts, unlike that of the app. */
  #userFeedOf({ appName, userId }: FollowedKey): FeedReports | undefined {
    return this.#feeds.get(keyText({ appName, userId }));
  }

  /** Calls the listeners of a session with what is known now. */
  #tellSession(key: CompositeSessionKey): void {
    const name = keyText(key);
    const { listeners = [] } = this.#followed.get(name) ?? {};
    const feed = this.#feedOf(key);
    for (const listener of [...listeners]) listener(feed?.reports.get(name), feed !== undefined);
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
    // A stream that is cut leaves the message open.
    const mayBeCut = this.#streams.get(name) === feed && report.status === 'running';
    if (open?.messageId === report.messageId && !mayBeCut) open.end();
    if (report.status === 'ended') feed.reports.delete(name);
    else {
      const isOver = report.status !== 'running';
      feed.reports.set(name, isOver ? { ...report, drafts: keptDrafts(report) } : report);
    }
    if ((this.#feedOf(report) ?? feed) !== feed) return;
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
