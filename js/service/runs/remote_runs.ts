import { backgroundTimer } from '../../core/call/lifetime.js';
import { type Core, coreOf, type ServerAgent } from '../../core/core_of.js';
import { isWaitingForRun, retryAfterOf } from '../../stores/http/http_errors.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { MAX_ADMISSIONS, openHandle } from './agent/run_storage.js';
import type { Happening } from './run_table.js';
import {
  type QueuedMessage,
  RunsOfSessions,
  SessionRuns,
  type RunTransport,
} from './session_runs.js';
import { cancelledError, toldError } from './agent/run_status.js';

export { RunDisplay, unansweredMessage } from './run_display.js';
export { answerMessage, requireAnswers } from './user_answers.js';

/** The server has the agent, and tells on its feed what runs. */
class RemoteRuns implements RunTransport {
  /** Whether the service keeps messages until the server takes them. */
  readonly isFree: boolean;
  readonly isIdle = true;
  isCut = false;
  readonly #service: SessionService;
  readonly #key: CompositeSessionKey;
  readonly #happened: (happening: Happening) => void;
  readonly #agent: ServerAgent;
  /** The message that is being sent, and whether it was cancelled meanwhile. */
  #sending: { readonly id: string; isCancelled: boolean } | undefined;

  constructor(
    service: SessionService,
    key: CompositeSessionKey,
    happened: (happening: Happening) => void,
    core: Core,
  ) {
    this.#service = service;
    this.#key = key;
    this.#happened = happened;
    this.#agent = core.serverAgent!;
    this.isFree = core.epochs !== undefined;
  }

  follow(): () => void {
    this.isCut = false;
    const stop = this.#agent.follow(this.#key, (report, isKnown) => {
      this.isCut = !isKnown;
      const told = report && { ...report, error: report.error && toldError(report.error) };
      this.#happened(isKnown ? { type: 'told', report: told } : { type: 'unknown' });
    });
    return () => {
      stop();
      this.#happened({ type: 'unknown' });
    };
  }

  async send(take: () => QueuedMessage | undefined): Promise<void> {
    const asked = take();
    if (asked === undefined) return;
    const { id, isOfRewind, resolve, reject } = asked;
    const sending = (this.#sending = { id, isCancelled: false });
    try {
      const stored = await this.#store(asked, sending);
      // Over a cache it is in the outbox, which decides on it from now on.
      this.#happened(this.isFree ? { type: 'left', id, pauses: false } : { type: 'stored', id });
      resolve(stored);
      // A server that did not know the message has not noted that it was cancelled.
      if (sending.isCancelled) await this.stop(id).catch(() => undefined);
    } catch (error) {
      if (isWaitingForRun(error) && !isOfRewind && !sending.isCancelled) {
        this.#happened({ type: 'held', id });
        this.#release(error);
      } else {
        this.#happened({ type: 'left', id, pauses: true });
        reject(sending.isCancelled ? cancelledWhileSent(error) : error);
      }
    }
    this.#sending = undefined;
  }

  /**
   * Releases what was held when the server has told the end of a run, or when the pause has passed that it asks for.
   */
  #release(refusal: unknown): void {
    const { appName, userId } = this.#key;
    const isOfAll = isSessionError(refusal, 'too_many_runs');
    // Another process of the server tells nothing of its runs.
    const timer = backgroundTimer(() => release(), retryAfterOf(refusal) || 1000);
    const stop = isOfAll
      ? this.#agent.follow({ appName, userId }, (report) => {
          if (report !== undefined && report.status !== 'running') release();
        })
      : (): void => undefined;
    const release = (): void => {
      clearTimeout(timer);
      stop();
      this.#happened({ type: 'released' });
    };
  }

  async #store(asked: QueuedMessage, sending: { readonly isCancelled: boolean }): Promise<Event> {
    const run = { streaming: asked.streaming };
    for (let admissions = 1; ; admissions += 1) {
      const { message, isStored, expectedRevision, session: created } = await asked.admit();
      if (isStored) return message;
      if (sending.isCancelled) throw cancelledError(' Nothing was written.');
      const session = created ?? (await openHandle({ service: this.#service, key: this.#key }));
      try {
        return await this.#service.appendEvent({ session, event: message, expectedRevision, run });
      } catch (error) {
        const mayRepeat = expectedRevision !== undefined && admissions < MAX_ADMISSIONS;
        if (!mayRepeat || !isSessionError(error, 'stale_session')) throw error;
      }
    }
  }

  async stop(messageId: string): Promise<void> {
    if (this.#sending?.id === messageId) this.#sending.isCancelled = true;
    await this.#agent.cancel({ ...this.#key, messageId });
  }

  get elsewhere(): string | undefined {
    return this.#agent.openMessage?.(this.#key);
  }

  /** The server knows what it runs. */
  underWay(): undefined {
    return undefined;
  }

  abandon(): void {
    this.#happened({ type: 'told', report: undefined });
  }
}

function cancelledWhileSent(error: unknown): unknown {
  return isSessionError(error, 'aborted') ? error : cancelledError(' It may be stored.', error);
}

const runsOfServices = new RunsOfSessions();

/** Returns the runs of a session whose server has the agent, which all stores of a service share. */
export function runsOf(service: SessionService, key: CompositeSessionKey): SessionRuns {
  const core = coreOf(service)!;
  const mayPause = core.epochs === undefined;
  const make = (): SessionRuns =>
    new SessionRuns((happened) => new RemoteRuns(service, key, happened, core), {
      mayPause,
      isKnown: false,
    });
  return runsOfServices.get(core, key, make);
}
