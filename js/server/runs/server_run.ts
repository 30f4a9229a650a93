import type { RunUnderWay } from '../../core/history_types.js';
import type { ServerRunId, RunReport } from '../../core/run_report.js';
import { isSessionError } from '../../values/errors/errors.js';
import {
  isReportedByEvent,
  type PublicError,
  publicErrorOf,
} from '../../values/errors/public_error.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { LocalRun, type RunEnd, type StopReason } from '../../service/runs/agent/local_run.js';
import { margin } from './elsewhere.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import type { AdmittedMessage } from '../../service/runs/agent/run_storage.js';

/** Why a run has no whole answer, as clients may know it. */
export type RunFailure = PublicError;

/** What the runs of a server work with. */
export interface RunSettings {
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly maxRuns: number;
  /** Milliseconds after which a run is cancelled. */
  readonly maxRunMs: number;
  readonly waitUntil: ((running: Promise<unknown>) => void) | undefined;
  /** See `SessionHandlerOptions`. Absent: the service decides. */
  readonly processes: 'one' | 'many' | undefined;
}

/** A message that the agent is to answer. */
export interface ServerMessage {
  readonly key: CompositeSessionKey;
  readonly messageId: string;
  readonly streaming: boolean;
  /**
   * Prepares the message by the rights of its request, again if others have changed the session.
   *
   * @param mark the mark of the run, for an append that this function itself makes
   */
  readonly admit: (mark: string) => Promise<AdmittedMessage>;
  /** Gets what the agent throws, and what fails in the run. */
  readonly onError: (error: unknown) => void;
  /** Called with each partial event of an answer, and with each whole event, once it is stored. */
  readonly onEvent?: (event: Event) => void;
}

/** What a client is told of a run that was stopped. A run that took too long has an error with its limit. */
const STOPPED: Readonly<Partial<Record<StopReason, RunFailure>>> = {
  cancelled: { code: 'aborted', message: 'The run was cancelled.' },
  closed: { code: 'closed', message: 'The server has stopped during the run.' },
  deleted: { code: 'not_found', message: 'The session was deleted during the run.' },
};

/** The start of a process, which numbers its runs. */
interface Start {
  /** Draws the id of a run whose message is stored. */
  count(): ServerRunId;
  /** Draws the mark of a message that is admitted now. */
  newMark(): string;
}

/**
 * The run of a message on the server. It belongs to its session, and goes on when the request that began it has ended.
 */
export class ServerRun {
  readonly messageId: string;
  /**
   * Resolves with a failure if the agent threw or was stopped; else with `undefined`, even if its last event is an
   * error.
   */
  readonly ended: Promise<RunFailure | undefined>;
  readonly #run: LocalRun;
  readonly #asked: ServerMessage;
  readonly #start: Start;
  readonly #lostAt: number;
  #runId: ServerRunId | undefined;

  /**
   * @param start has this run
   * @param onChange called after each change of the run
   */
  constructor(
    { service, agent, maxRunMs }: RunSettings,
    asked: ServerMessage,
    start: Start,
    onChange: (run: ServerRun) => void,
  ) {
    this.messageId = asked.messageId;
    this.#asked = asked;
    this.#start = start;
    this.#lostAt = Date.now() + maxRunMs + margin.ms;
    const admit = async (): Promise<AdmittedMessage> => {
      const mark = start.newMark();
      return { ...(await asked.admit(mark)), mark };
    };
    this.#run = new LocalRun({
      ...asked,
      admit,
      service,
      agent,
      maxRunMs,
      onChange: () => onChange(this),
    });
    this.ended = this.#run.ended.then((end) => this.#failureOf(end));
  }

  /** Resolves with the message once it is stored. Rejects if the run ends before. */
  get stored(): Promise<Event> {
    return this.#run.stored;
  }

  get isOver(): boolean {
    return this.#run.isOver;
  }

  /** Whether it has not ended in its time: nothing runs it any more. */
  get isLost(): boolean {
    return this.leftMs === 0;
  }

  /** The milliseconds after which other processes take it for over. */
  get leftMs(): number {
    return Math.max(0, this.#lostAt - Date.now());
  }

  get underWay(): RunUnderWay | undefined {
    return this.#run.underWay;
  }

  /** Which run of the server it is, once its message is stored. */
  get runId(): ServerRunId | undefined {
    if (this.#run.report === undefined) return undefined;
    return (this.#runId ??= this.#start.count());
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): RunReport | undefined {
    const { report } = this.#run;
    if (report === undefined) return undefined;
    const { appName, userId, sessionId } = this.#asked.key;
    const { error, ...run } = report;
    const told = error === undefined ? undefined : publicErrorOf(error);
    const number = this.runId!.number;
    return { appName, userId, sessionId, number, ...run, ...(told && { error: told }) };
  }

  /** Stops the run, and waits until it has ended. */
  stop(reason: StopReason): Promise<void> {
    return this.#run.stop(reason);
  }

  #failureOf({ status, error, reason }: RunEnd): RunFailure | undefined {
    // Nothing was thrown, and clients get the event that reports it.
    if (isReportedByEvent(error)) return undefined;
    // What refused the message goes to its client, except for what the agent or a plugin threw.
    const isOperators =
      status === 'refused' ? isSessionError(error, 'run_failed') : error !== undefined;
    if (isOperators) this.#asked.onError(error);
    if (error !== undefined) return publicErrorOf(error);
    return reason === undefined && status === 'ended' ? undefined : STOPPED[reason ?? 'cancelled'];
  }
}
