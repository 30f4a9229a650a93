import { coreOf } from '../../core/core_of.js';
import { TabLock } from '../../core/watch/tab_lock.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { isRewind } from '../../values/model/event/snapshot.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText } from '../../values/model/values/ids.js';
import { LocalRun, type StopReason } from './agent/local_run.js';
import { isStoredAlready } from './agent/run_storage.js';
import type { Happening } from './run_table.js';
import {
  type QueuedMessage,
  RunsOfSessions,
  SessionRuns,
  type RunTransport,
} from './session_runs.js';
import { type EndingRun, endEventsOf, endRun } from './agent/end_events.js';
import type { Report } from './agent/run_status.js';
import { OtherTabs } from './other_tabs.js';

export { RunDisplay, unansweredMessage } from './run_display.js';
export { answerMessage, requireAnswers } from './user_answers.js';

/** Milliseconds for a run to end once it is stopped: a second for the agent, and the rest for its end event. */
const END_MS = 3000;

/** A run that this page has begun. */
export type PageRun = Pick<LocalRun, 'stored' | 'ended' | 'isOver' | 'report' | 'stop'> & {
  readonly underWay?: LocalRun['underWay'];
};

/** A service whose appends wait in an outbox. */
interface CachingService extends SessionService {
  readonly outbox: {
    list(key: CompositeSessionKey): Promise<readonly { readonly events: readonly NewEvent[] }[]>;
  };
}

/** Begins runs that the page cannot end. */
export interface RunStarter {
  /** Whether it has noted nothing that the next run needs. */
  readonly isIdle: boolean;
  /** Begins the run of a message. `onChange` is called after each change of the run, and once it has ended. */
  begin(asked: QueuedMessage, onChange: () => void): PageRun;
}

/** The page has the runs: one of all tabs runs at a time, and the others show its run. */
export class PageRuns implements RunTransport {
  /** The lock decides. */
  readonly isFree = true;
  readonly #service: SessionService;
  readonly #key: CompositeSessionKey;
  readonly #happened: (happening: Happening) => void;
  readonly #lock: TabLock;
  readonly #others: OtherTabs;
  readonly #starter: RunStarter | undefined;
  #current: PageRun | undefined;
  /** The current run before its message is stored, as other tabs are told of it. */
  #beginning: Report | undefined;
  /** The runs that were ended by rewinds which a cache has not sent yet. Its remote may refuse the rewinds. */
  #undoneRun: EndingRun[] = [];
  /** The author of the end events of other tabs' runs. */
  #agentName: string | undefined;

  /** @param starter default: the agent of the message is in the page */
  constructor(
    service: SessionService,
    key: CompositeSessionKey,
    happened: (happening: Happening) => void,
    channelName: string | undefined,
    starter?: RunStarter,
  ) {
    this.#starter = starter;
    this.#service = service;
    this.#key = key;
    this.#happened = happened;
    const session = keyText(key);
    this.#lock = new TabLock(channelName && `${channelName}:run:${session}`);
    this.#others = new OtherTabs(session, channelName, this.#lock, {
      told: (report) => happened({ type: 'told', report }),
      stop: (messageId) => void this.#stopOwn(messageId, 'cancelled'),
      tellNow: () => this.#tell(),
    });
  }

  get isIdle(): boolean {
    return this.#undoneRun.length === 0 && this.#starter?.isIdle !== false;
  }

  follow(): () => void {
    return this.#others.follow();
  }

  async send(take: () => QueuedMessage | undefined): Promise<void> {
    let taken: QueuedMessage | undefined;
    try {
      await this.#lock.hold(async () => {
        taken = take();
        if (taken !== undefined) await this.#run(taken);
      });
    } catch (error) {
      // A page that is going away gets no lock, and a tab that was silent for long has lost it: its run got its end
      // event.
      if (this.#current !== undefined) return void (await this.#current.stop('rewound'));
      taken ??= take();
      if (taken !== undefined) this.#refuse(taken, error);
    }
  }

  async #run(asked: QueuedMessage): Promise<void> {
    const { id, admit, streaming, agent } = asked;
    this.#agentName = agent?.agentName;
    const end = this.#others.begin();
    const onChange = (): void => this.#note(run);
    const parts = { key: this.#key, service: this.#service, streaming, admit, onChange };
    const run: PageRun =
      this.#starter?.begin(asked, onChange) ?? new LocalRun({ ...parts, agent: agent! });
    this.#current = run;
    const beginning = { messageId: id, invocationId: '', drafts: [], wholes: [] };
    this.#beginning = { ...beginning, status: 'running' };
    // Another tab that has read the message would take it for unanswered.
    this.#tell();
    run.stored.then(asked.resolve, () => undefined);
    const { status, error } = await run.ended;
    this.#current = undefined;
    this.#others.tell(run.report ?? { ...beginning, status: 'ended' });
    if (status !== 'refused') {
      end();
      return;
    }
    if (isStoredAlready(error)) {
      // Another run of this message has begun, in another tab or earlier. No message runs twice.
      await this.#messageOf(id)
        .then((stored) => (stored === undefined ? asked.reject(error) : asked.resolve(stored)))
        .catch(asked.reject);
      this.#happened({ type: 'left', id, pauses: false });
    } else this.#refuse(asked, error);
    end();
  }

  #refuse({ id, reject }: QueuedMessage, error: unknown): void {
    this.#happened({ type: 'left', id, pauses: true });
    reject(error);
  }

  #note(run: PageRun): void {
    const { report } = run;
    if (report === undefined) return;
    this.#happened({ type: 'told', report });
    if (!run.isOver) this.#others.tellSoon();
  }

  #tell(): void {
    const report = this.#current?.report ?? this.#beginning;
    if (this.#current !== undefined && report !== undefined) this.#others.tell(report);
  }

  async stop(messageId: string): Promise<void> {
    if (this.#current !== undefined) return this.#stopOwn(messageId, 'cancelled');
    // Also if this tab knows of no run: the other one may not have told of it yet.
    this.#others.askToStop(messageId);
    const { told, isRunning } = this.#others;
    const isTold = isRunOf(told, messageId);
    // It runs another message, and that run goes on.
    if (isRunning && told !== undefined && !isTold) return;
    const isFree = await this.#lock.released(END_MS);
    if (this.#starter !== undefined) return;
    const message = await this.#messageOf(messageId);
    // Meanwhile this tab may have begun its own next run.
    if (message === undefined || this.#current !== undefined) return;
    // The lock is taken only from a tab that still runs this message. Others go on with another one.
    const { told: last } = this.#others;
    if (!isFree && !(last?.status === 'running' && isRunOf(last, messageId))) return;
    const drafts = isTold ? told!.drafts : [];
    const run = { key: this.#key, message, drafts, agentName: this.#agentName, isUnanswered: true };
    const end = () => endRun(this.#service, run);
    // A tab that is silent keeps its lock. Its run goes on until its next append is refused.
    await (isFree ? this.#lock.hold(end) : this.#lock.take(end));
    this.#happened({ type: 'told', report: undefined });
  }

  async #messageOf(messageId: string) {
    const { events } = await this.#service.getEvents({ ...this.#key, eventIds: [messageId] });
    return events[0]?.event;
  }

  async #stopOwn(messageId: string, reason: StopReason): Promise<void> {
    const report = this.#current?.report ?? this.#beginning;
    if (isRunOf(report, messageId)) await this.#current?.stop(reason);
  }

  underWay(): RunUnderWay | undefined {
    const own = this.#current?.underWay;
    if (own !== undefined) {
      const { id } = own.message;
      const abort = async (): Promise<void> => {
        // It holds up nothing behind it.
        this.#happened({ type: 'cancelled', id, unanswered: undefined });
        if (coreOf(this.#service)?.epochs !== undefined) this.#undoneRun.push(own.ending);
        await own.abort();
      };
      return { ...own, abort };
    }
    const { told, isRunning } = this.#others;
    if (!isRunning || told === undefined) return undefined;
    const { messageId: id, invocationId, drafts } = told;
    const message = { id, invocationId };
    return {
      message,
      endEvents: (events) => endEventsOf({ message, drafts, agentName: this.#agentName }, events),
      cancel: () => this.stop(id),
      abort: () => Promise.resolve(this.#others.askToStop(id)),
    };
  }

  async endUndone(): Promise<void> {
    if (this.#undoneRun.length === 0) return;
    // What cannot be read now is looked at again with the outbox.
    if (await this.#hasUnsentRewind().catch(() => true)) return;
    // Each rewind was sent or given up. A message that one still undoes gets no end event.
    for (const undone of this.#undoneRun.splice(0)) {
      const run = { ...undone, key: this.#key, isUnanswered: false };
      await endRun(this.#service, run).catch(() => void this.#undoneRun.push(undone));
    }
  }

  async #hasUnsentRewind(): Promise<boolean> {
    const { outbox } = this.#service as CachingService;
    const waiting = (await outbox.list(this.#key)).flatMap(({ events }) => events);
    return waiting.some(({ actions = {} }) => isRewind(actions));
  }

  abandon(): void {
    void this.#current?.stop('deleted');
  }
}

/** Whether a report is of the run of a message, under the id with which it was asked or stored. */
function isRunOf(report: Report | undefined, messageId: string): boolean {
  return report?.messageId === messageId || report?.askedAs === messageId;
}

const runsOfStorages = new RunsOfSessions();

/** Returns the runs of a session by an agent in the page, which all stores of this realm share. */
export function runsOf(service: SessionService, key: CompositeSessionKey): SessionRuns {
  const feed = coreOf(service)?.publisher.feed;
  const make = (): SessionRuns =>
    new SessionRuns((happened) => new PageRuns(service, key, happened, feed?.channelName), {
      mayPause: true,
      isKnown: true,
    });
  return runsOfStorages.get(feed ?? service, key, make);
}
