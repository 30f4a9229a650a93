/** The runs of other processes, as their channel tells them, and what this process asks of them. */
import { backgroundTimer } from '../../core/call/lifetime.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { RunReport } from '../../core/run_report.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import type { ProcessLink } from '../../core/watch/process_link.js';
import type { TabPort } from '../../core/watch/tab_channel.js';
import { endEventsOf } from '../../service/runs/agent/end_events.js';
import { storedStatus } from '../../service/runs/agent/run_status.js';
import { reportIn } from '../../stores/remote/reported_run.js';
import type { RunMark } from '../../values/model/event/metadata.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { putLast } from '../../values/bounded_map.js';
import { keyText } from '../../values/model/values/ids.js';
import { OutgoingReports } from './outgoing_reports.js';
import { OtherStarts } from './other_starts.js';
import { type AskedRun, RUN_MESSAGES, type RunContents, type RunMessage } from './run_messages.js';

/** Milliseconds that another process may take to stop a run. */
const STOP_MS = 3000;
/** A process that has told a run is asked for it when it has sent nothing for so many milliseconds. */
const QUIET_MS = 2000;
/** Milliseconds between two looks for such processes. */
const CHECK_MS = 1000;
/** The most starts whose question for a reader is remembered. */
const MAX_QUESTIONS = 1000;
/** Users with feeds are told to the others again after so many milliseconds. */
const FEEDS_MS = 15_000;
/** The most runs whose ends are remembered. */
const MAX_ENDED = 10_000;

/** What others may ask of the runs of this process. */
export interface OwnRuns {
  /** Names this start of the process. */
  readonly start: string;
  /** The runs under way whose messages are stored. */
  readonly reports: readonly RunReport[];
  /** Whether this process runs a message, or is about to store it. */
  isUnderWay(key: CompositeSessionKey, messageId: string): boolean;
  /** Stops the runs that are meant. Refuses a message that comes later. @returns whether there was a run */
  stop(
    key: CompositeSessionKey,
    messageId: string | undefined,
    reason: 'cancelled' | 'rewound',
  ): Promise<boolean>;
  /** Tells a run of another process to the feeds of this one, unless this process has a run of the session itself. */
  pass(report: RunReport): void;
}

/** By user: the feeds that this process has open. */
export type OpenFeeds = Map<string, { readonly owner: Required<StateOwner>; count: number }>;

/** A start of a process that is asked. */
type AskedStart = Pick<RunMark, 'start' | 'hasChannel'>;

/** A run of another process. */
interface OtherRun {
  readonly start: string;
  readonly step: number;
  readonly report: RunReport;
}

/**
 * The other processes that share a storage, as one of them sees them. A message may be lost: a process that finds a gap
 * asks for everything again. Nothing is sent before `open`.
 */
export class OtherProcesses {
  readonly #own: OwnRuns;
  readonly #port: TabPort<RunMessage>;
  readonly #outgoing: OutgoingReports;
  /** By session: the runs of other processes. */
  readonly #runs = new Map<string, OtherRun>();
  readonly #starts: OtherStarts;
  /** The runs that have told their ends. */
  readonly #ended = new Map<string, true>();
  /** By start: the question to it for a reader. Until it is heard again, or texts may have been missed. */
  readonly #questions = new Map<string, Promise<unknown>>();
  readonly #feeds: OpenFeeds;
  #isOpen = false;
  #isClosed = false;
  #isChecking = false;
  #isRepeating = false;

  /** @param feeds those of this process */
  constructor(link: ProcessLink, own: OwnRuns, feeds: OpenFeeds) {
    this.#feeds = feeds;
    this.#own = own;
    this.#starts = new OtherStarts(
      link,
      (question) => this.#send(question),
      (start) => this.#endRunsOf(start),
    );
    this.#outgoing = new OutgoingReports((message) => this.#send(message), link.tellsDrafts);
    this.#port = link.port(RUN_MESSAGES, {
      deliver: (messages) => {
        for (const message of messages) this.#receive(message);
      },
      missed: () => {
        this.#questions.clear();
        void this.#askAll();
      },
    });
    link.onRelease(() => this.#close());
  }

  /** Forgets what only a channel that is in use can tell. */
  #close(): void {
    this.#isOpen = false;
    this.#isClosed = true;
    const runs = [...this.#runs.values()];
    for (const run of runs) this.#end(run);
    this.#starts.close();
  }

  /** The runs under way at other processes. */
  get reports(): readonly RunReport[] {
    return [...this.#runs.values()].map(({ report }) => report);
  }

  /** Whether a start of a process is known to have ended. */
  isGone(start: string): boolean {
    return this.#starts.isGone(start);
  }

  /** Begins to listen, and asks the others for their runs. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.#isOpen = true;
    this.#port.listen(true);
    this.#send({ type: 'tell' });
    this.#repeatFeeds();
  }

  /** Tells the others that this process runs nothing any more. */
  tellClosed(): void {
    this.#send({ type: 'closed' });
  }

  /** Tells the others a run of this process. */
  note(run: RunReport): void {
    this.#outgoing.note(run);
  }

  /** Notes a feed of a user, so that the others tell its drafts, until the returned function is called. */
  follow({ appName, userId }: StateOwner): () => void {
    if (userId === undefined) return () => undefined;
    const owner = { appName, userId };
    const name = keyText(owner);
    const feed = this.#feeds.get(name) ?? { owner, count: 0 };
    feed.count += 1;
    this.#feeds.set(name, feed);
    if (feed.count === 1) this.#send({ type: 'feeds', owners: [owner], areNew: true });
    this.#repeatFeeds();
    return () => {
      feed.count -= 1;
      if (feed.count === 0) this.#feeds.delete(name);
    };
  }

  /**
   * Asks the process that has told a run of the session whether it still runs.
   *
   * @returns whether it says so
   */
  async isRunning(key: CompositeSessionKey): Promise<boolean> {
    const run = this.#runs.get(keyText(key));
    if (run === undefined) return false;
    return (await this.ask({ start: run.start, hasChannel: true }, run.report)) === 'runs';
  }

  /**
   * Whether a start still runs a message that has its answer. The text that tells its run may be under way, so the start
   * is asked, unless it has told the end. A start that was never heard is not asked.
   */
  async goesOn(start: string, run: AskedRun): Promise<boolean> {
    if (this.#ended.has(runName(run)) || !this.#starts.wasHeard(start)) return false;
    return (await this.ask({ start, hasChannel: true }, run)) === 'runs';
  }

  /**
   * Asks a start of a process whether it runs a message.
   *
   * @returns `gone`: the process has ended; `undefined`: it is not known
   */
  async ask(start: AskedStart, run: AskedRun): Promise<'runs' | 'over' | 'gone' | undefined> {
    const areRunning = await this.#askWhich(start, [run]);
    if (typeof areRunning !== 'object') return areRunning;
    return areRunning[0] === true ? 'runs' : 'over';
  }

  /**
   * Finds out whether the start that has begun a run has ended, for `isGone`. A reader waits for two seconds at most, and
   * once for a start that does not answer.
   */
  async check(asked: AskedStart, run: AskedRun): Promise<void> {
    const { start } = asked;
    // A start that has told the run is asked by the timer once it is quiet.
    if (this.#knownRun(start, run) !== undefined && !this.#starts.isQuiet(start, QUIET_MS)) return;
    const question = this.#questions.get(start) ?? this.ask(asked, run);
    putLast(this.#questions, start, question, MAX_QUESTIONS);
    await question;
  }

  /**
   * Asks a start of a process which messages it runs. Ends the others among its runs.
   *
   * @returns for each message whether it is run; else as `ask`
   */
  async #askWhich(
    { start, hasChannel }: AskedStart,
    asked: readonly AskedRun[],
  ): Promise<readonly boolean[] | 'gone' | undefined> {
    const runs = asked.map(({ appName, userId, sessionId, messageId }) => {
      return { appName, userId, sessionId, messageId };
    });
    this.open();
    const answer = await this.#starts.askOne(start, hasChannel, (id) => {
      return { type: 'ask', id, to: start, runs };
    });
    if (answer === undefined || answer === 'gone') return answer;
    const areRunning = answer.type === 'answer' ? answer.areRunning : [];
    for (const [index, run] of runs.entries()) {
      const known = this.#knownRun(start, run);
      if (known !== undefined && areRunning[index] !== true) this.#end(known);
    }
    return areRunning;
  }

  /**
   * Asks the others to stop the runs that are meant, and to refuse the message if it comes within 30 seconds. Waits for
   * a run that is known.
   *
   * @returns whether another process has stopped one
   */
  async stop(
    key: CompositeSessionKey,
    messageId: string | undefined,
    reason: 'cancelled' | 'rewound',
  ): Promise<boolean> {
    const { appName, userId, sessionId } = key;
    const { start, report } = this.#runs.get(keyText(key)) ?? {};
    const isKnown = messageId === undefined || messageId === report?.messageId;
    const to = isKnown ? start : undefined;
    this.open();
    const session = { appName, userId, sessionId };
    const limitMs = to === undefined ? 0 : STOP_MS;
    const answer = await this.#starts.askAll(limitMs, to, (id) => {
      return { type: 'stop', id, to, key: session, messageId, reason };
    });
    return answer?.type === 'stopped' && answer.wasRunning;
  }

  /**
   * Returns the run of a session at another process, for a rewind that ends it. That process is asked for the texts so
   * far. If it does not answer within two seconds, the rewind stores the end event without them.
   *
   * @param agentName the author of what ends the run
   */
  async underWay(
    key: CompositeSessionKey,
    agentName: string | undefined,
  ): Promise<RunUnderWay | undefined> {
    const { start, report } = this.#runs.get(keyText(key)) ?? {};
    if (start === undefined || report === undefined) return undefined;
    const { appName, userId, sessionId, messageId, invocationId } = report;
    const run = { appName, userId, sessionId, messageId };
    const answer = await this.#starts.askOne(start, true, (id) => {
      return { type: 'report', id, to: start, run };
    });
    const isGone = answer === 'gone';
    const known = this.#knownRun(start, run);
    // The run has ended while its process was asked.
    if (known === undefined && !isGone) return undefined;
    const told = !isGone && answer?.type === 'reported' ? answer : undefined;
    if (known !== undefined && told !== undefined && told.run === undefined)
      return this.#end(known);
    const now = told?.run && reportIn({ ...told.run, number: undefined }, new Map());
    const message = { id: messageId, invocationId };
    const stop = async (reason: 'cancelled' | 'rewound'): Promise<void> => {
      await this.stop(key, messageId, reason);
    };
    return {
      message,
      // A process that is gone may have ended the run, and not told it.
      endEvents: (events) =>
        isGone && storedStatus(events)?.status !== 'unanswered'
          ? []
          : endEventsOf({ message, drafts: now?.drafts ?? [], agentName }, events),
      cancel: () => stop('cancelled'),
      abort: () => stop('rewound'),
    };
  }

  #send(message: RunContents): void {
    if (this.#isOpen) this.#port.send([{ ...message, from: this.#own.start }]);
  }

  #receive(message: RunMessage): void {
    const { from } = message;
    if (from === this.#own.start) return;
    if (message.type === 'closed') return this.#starts.noteGone(from);
    // A start that is heard again was only cut off. Its runs were dropped.
    if (this.isGone(from)) this.#send({ type: 'tell', to: from });
    this.#starts.noteHeard(from);
    this.#questions.delete(from);
    const { start, reports } = this.#own;
    switch (message.type) {
      case 'run':
        return this.#take(message);
      case 'tell':
        if (message.to !== undefined && message.to !== start) return;
        this.#sendFeeds();
        return this.#outgoing.tellWhole(reports);
      case 'feeds':
        return this.#outgoing.want(message.owners, message.areNew, reports);
      case 'ask': {
        if (message.to !== start) return;
        const areRunning = message.runs.map((run) => this.#own.isUnderWay(run, run.messageId));
        return this.#send({ type: 'answer', id: message.id, areRunning });
      }
      case 'report': {
        const { id, to, run } = message;
        if (to !== start) return;
        const report = reports.find((report) => isRunOf(report, run));
        return this.#send({ type: 'reported', id, run: report && this.#outgoing.shown(report) });
      }
      case 'stop':
        return void this.#stopOwn(message);
      case 'answer':
      case 'reported':
      case 'stopped':
        return this.#starts.take(message);
    }
  }

  async #stopOwn({ id, to, key, messageId, reason }: RunMessage & { type: 'stop' }): Promise<void> {
    const wasRunning = await this.#own.stop(key, messageId, reason);
    if (wasRunning || to === this.#own.start) this.#send({ type: 'stopped', id, wasRunning });
  }

  /** Takes the report of a run. Asks for the whole one if it follows a report that was lost. */
  #take({ from, step, run }: RunMessage & { type: 'run' }): void {
    const name = keyText(run);
    const known = this.#runs.get(name);
    // The process whose run of the session began last has taken it over. The other one ends at its next append.
    if (known !== undefined && known.start !== from && step > 1) return;
    const isNext = known?.start === from && known.step === step - 1;
    const before = new Map(isNext ? [[name, known.report]] : []);
    const report = reportIn({ ...run, number: undefined }, before);
    if (report === undefined) return this.#send({ type: 'tell', to: from });
    if (report.status !== 'running') putLast(this.#ended, runName(report), true, MAX_ENDED);
    if (report.status === 'running') this.#runs.set(name, { start: from, step, report });
    else if (known === undefined || known.start === from) this.#runs.delete(name);
    else return;
    this.#own.pass(report);
    this.#checkLater();
  }

  /** Forgets a run whose end was not told. Its stored events tell how it has ended. */
  #end({ report }: OtherRun): undefined {
    this.#runs.delete(keyText(report));
    this.#own.pass({ ...report, status: 'ended', drafts: [], wholes: [] });
  }

  /** Returns the run of a message, if that start has told it and no end. */
  #knownRun(start: string, run: AskedRun): OtherRun | undefined {
    const known = this.#runs.get(keyText(run));
    return known?.start === start && isRunOf(known.report, run) ? known : undefined;
  }

  #endRunsOf(start: string): void {
    for (const run of [...this.#runs.values()]) if (run.start === start) this.#end(run);
  }

  /** Asks for all runs after some messages may have been missed, and for the ends of those that are known. */
  async #askAll(): Promise<void> {
    this.#send({ type: 'tell' });
    this.#sendFeeds();
    await this.#askOf([...this.#runs.values()]);
  }

  /** Asks each start once for its runs among these. */
  async #askOf(runs: readonly OtherRun[]): Promise<void> {
    const starts = new Set(runs.map(({ start }) => start));
    const asked = [...starts].map((start) => {
      const own = runs.filter((run) => run.start === start);
      return this.#askWhich(
        { start, hasChannel: true },
        own.map(({ report }) => report),
      );
    });
    await Promise.all(asked);
  }

  /** Asks, while there are runs of others, those who have said nothing for a while. */
  #checkLater(): void {
    if (this.#isChecking || this.#runs.size === 0 || !this.#isOpen) return;
    this.#isChecking = true;
    backgroundTimer(() => {
      const quiet = [...this.#runs.values()].filter(({ start }) =>
        this.#starts.isQuiet(start, QUIET_MS),
      );
      void this.#askOf(quiet).then(() => {
        this.#isChecking = false;
        this.#checkLater();
      });
    }, CHECK_MS);
  }

  #repeatFeeds(): void {
    if (this.#isRepeating) return;
    this.#isRepeating = true;
    backgroundTimer(() => {
      this.#isRepeating = false;
      if (this.#feeds.size === 0 || !this.#isOpen) return;
      this.#sendFeeds();
      this.#repeatFeeds();
    }, FEEDS_MS);
  }

  #sendFeeds(): void {
    const owners = [...this.#feeds.values()].map(({ owner }) => owner);
    this.#send({ type: 'feeds', owners, areNew: false });
  }
}

function isRunOf(report: RunReport, run: AskedRun): boolean {
  return keyText(report) === keyText(run) && report.messageId === run.messageId;
}

function runName(run: AskedRun): string {
  return JSON.stringify([keyText(run), run.messageId]);
}
