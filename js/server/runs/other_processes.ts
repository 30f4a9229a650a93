/** The runs of other processes, as their channel tells them, and what this process asks of them. */
import { backgroundTimer } from '../../core/call/lifetime.js';
import type { RunReport } from '../../core/run_report.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import type { ProcessLink } from '../../core/watch/process_link.js';
import type { TabPort } from '../../core/watch/tab_channel.js';
import { reportIn } from '../../stores/remote/reported_run.js';
import { putLast } from '../../values/bounded_map.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { keyText } from '../../values/model/values/ids.js';
import { RUN_MESSAGES, type RunContents, type RunMessage } from './run_messages.js';
import { ToldRuns } from './told_runs.js';

/** Milliseconds after which a process that does not answer counts as gone, if it would have been heard. */
const SILENCE_MS = 2000;
/** Milliseconds that another process may take to stop a run. */
const STOP_MS = 3000;
/** A process that has a run is asked for it after so many milliseconds without a word. */
const QUIET_MS = 2000;
/** Milliseconds between two looks for such processes. */
const CHECK_MS = 1000;
/** Users with feeds are told to the others again after so many milliseconds. */
const FEEDS_MS = 15_000;
/** The most starts that are remembered. */
const MAX_STARTS = 10_000;

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
  /** Tells the feeds of this process a run of another one, unless this process has the next run of the session. */
  pass(report: RunReport): void;
}

/** By user: the feeds that this process has open. */
export type OpenFeeds = Map<string, { readonly owner: Required<StateOwner>; count: number }>;

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
  readonly #link: ProcessLink;
  readonly #own: OwnRuns;
  readonly #port: TabPort<RunMessage>;
  readonly #told: ToldRuns;
  /** By session: the runs of other processes. */
  readonly #runs = new Map<string, OtherRun>();
  /** When each start was last heard. */
  readonly #heard = new Map<string, number>();
  /** The starts that have ended. */
  readonly #gone = new Set<string>();
  /** By id: what takes the answer to a question. */
  readonly #questions = new Map<string, (isRunning: boolean | undefined) => void>();
  readonly #feeds: OpenFeeds;
  #isOpen = false;
  #isClosed = false;
  #isChecking = false;
  #isRepeating = false;

  /** @param feeds those of this process */
  constructor(link: ProcessLink, own: OwnRuns, feeds: OpenFeeds) {
    this.#link = link;
    this.#feeds = feeds;
    this.#own = own;
    this.#told = new ToldRuns((message) => this.#send(message), link.tellsDrafts);
    this.#port = link.port(RUN_MESSAGES, {
      deliver: (messages) => {
        for (const message of messages) this.#receive(message);
      },
      missed: () => void this.#askAll(),
    });
    link.onRelease(() => this.#close());
  }

  /** Forgets what only a channel that is in use can tell. */
  #close(): void {
    this.#isOpen = false;
    this.#isClosed = true;
    const runs = [...this.#runs.values()];
    for (const run of runs) this.#end(run);
    for (const answer of [...this.#questions.values()]) answer(undefined);
  }

  /** The runs under way at other processes. */
  get reports(): readonly RunReport[] {
    return [...this.#runs.values()].map(({ report }) => report);
  }

  /** Whether a start of a process is known to have ended. */
  isGone(start: string): boolean {
    return this.#gone.has(start);
  }

  /** Begins to listen, and asks the others for their runs. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.#isOpen = true;
    this.#port.listen(true);
    this.#send({ type: 'tell' });
    this.#repeatFeeds();
  }

  /** Tells the others a run of this process. */
  note(run: RunReport): void {
    this.#told.note(run);
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
    return (await this.ask(run.start, run.report)) === 'runs';
  }

  /**
   * Asks a start of a process whether it runs a message.
   *
   * @returns `gone`: the process has ended; `undefined`: it is not known
   */
  async ask(
    start: string,
    { appName, userId, sessionId, messageId }: CompositeSessionKey & { readonly messageId: string },
  ): Promise<'runs' | 'over' | 'gone' | undefined> {
    if (this.#gone.has(start)) return 'gone';
    this.open();
    const wouldHear = this.#link.listening();
    const key = { appName, userId, sessionId };
    const isRunning = await this.#question(SILENCE_MS, (id) => {
      this.#send({ type: 'ask', id, to: start, key, messageId });
    });
    const run = this.#runs.get(keyText(key));
    const isKnown = run?.start === start && run.report.messageId === messageId;
    if (isRunning !== undefined) {
      if (!isRunning && isKnown) this.#end(run);
      return isRunning ? 'runs' : 'over';
    }
    if (!wouldHear() || !this.#heard.has(start)) return undefined;
    this.#gone.add(start);
    for (const other of [...this.#runs.values()]) if (other.start === start) this.#end(other);
    return 'gone';
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
    const known = this.#runs.get(keyText(key))?.report.messageId;
    const isKnown = known !== undefined && (messageId === undefined || messageId === known);
    this.open();
    const isStopped = await this.#question(isKnown ? STOP_MS : 0, (id) => {
      const session = { appName, userId, sessionId };
      this.#send({ type: 'stop', id, key: session, messageId, reason });
    });
    return isStopped === true;
  }

  /** Stops a run that a rewind has undone. @param messageId the message that the rewind has stored */
  async stopUndone(key: CompositeSessionKey, messageId: string | undefined): Promise<void> {
    const undone = this.#runs.get(keyText(key))?.report.messageId;
    if (undone === undefined || undone === messageId) return;
    await this.stop(key, undone, 'rewound');
  }

  #send(message: RunContents): void {
    if (this.#isOpen) this.#port.send([{ ...message, from: this.#own.start }]);
  }

  /** Sends a question, and waits for its answer, at most so many milliseconds. */
  async #question(limitMs: number, send: (id: string) => void): Promise<boolean | undefined> {
    const id = newEventId();
    const answer = new Promise<boolean | undefined>((resolve) => {
      this.#questions.set(id, resolve);
      if (limitMs === 0 || this.#isClosed) resolve(undefined);
      else backgroundTimer(() => resolve(undefined), limitMs);
    });
    send(id);
    const given = await answer;
    this.#questions.delete(id);
    return given;
  }

  #receive(message: RunMessage): void {
    const { from } = message;
    if (from === this.#own.start) return;
    putLast(this.#heard, from, performance.now(), MAX_STARTS);
    // It was only cut off.
    this.#gone.delete(from);
    const { start, reports } = this.#own;
    switch (message.type) {
      case 'run':
        return this.#take(message);
      case 'tell':
        if (message.to !== undefined && message.to !== start) return;
        this.#sendFeeds();
        return this.#told.tellWhole(reports);
      case 'feeds':
        return this.#told.want(message.owners, message.areNew, reports);
      case 'ask': {
        if (message.to !== start) return;
        const isRunning = this.#own.isUnderWay(message.key, message.messageId);
        return this.#send({ type: 'answer', id: message.id, isRunning });
      }
      case 'answer':
        return this.#questions.get(message.id)?.(message.isRunning);
      case 'stop':
        return void this.#stopOwn(message);
      case 'stopped':
        return this.#questions.get(message.id)?.(true);
    }
  }

  async #stopOwn({ id, key, messageId, reason }: RunMessage & { type: 'stop' }): Promise<void> {
    const isStopped = await this.#own.stop(key, messageId, reason);
    if (isStopped) this.#send({ type: 'stopped', id });
  }

  /** Takes the report of a run. Asks for the whole one if it follows a report that was lost. */
  #take({ from, step, run }: RunMessage & { type: 'run' }): void {
    const name = keyText(run);
    const known = this.#runs.get(name);
    const isNext = known?.start === from && known.step === step - 1;
    const before = new Map(isNext ? [[name, known.report]] : []);
    const report = reportIn({ ...run, number: undefined }, before);
    if (report === undefined) return this.#send({ type: 'tell', to: from });
    if (report.status === 'running') this.#runs.set(name, { start: from, step, report });
    else if (known === undefined || known.start === from) this.#runs.delete(name);
    else return;
    this.#own.pass(report);
    this.#checkLater();
  }

  /** Forgets a run whose end was not told. Its stored events tell how it has ended. */
  #end({ report }: OtherRun): void {
    this.#runs.delete(keyText(report));
    this.#own.pass({ ...report, status: 'ended', drafts: [], wholes: [] });
  }

  /** Asks for all runs after some messages may have been missed, and for the ends of those that are known. */
  async #askAll(): Promise<void> {
    const known = [...this.#runs.values()];
    this.#send({ type: 'tell' });
    this.#sendFeeds();
    await Promise.all(known.map(({ start, report }) => this.ask(start, report)));
  }

  /** Asks, while there are runs of others, those who have said nothing for a while. */
  #checkLater(): void {
    if (this.#isChecking || this.#runs.size === 0 || !this.#isOpen) return;
    this.#isChecking = true;
    backgroundTimer(() => {
      const quiet = [...this.#runs.values()].filter(
        ({ start }) => performance.now() - (this.#heard.get(start) ?? 0) >= QUIET_MS,
      );
      const asked = quiet.map(({ start, report }) => this.ask(start, report));
      void Promise.all(asked).then(() => {
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
