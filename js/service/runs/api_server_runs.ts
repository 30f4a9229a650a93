import { type Core, coreOf, type ServerAgent } from '../../core/core_of.js';
import { keptDrafts } from '../../core/run_report.js';
import { pause } from '../../stores/http/call_limit.js';
import { isTransient } from '../../stores/http/http_errors.js';
import type { RunOptions } from '../../stores/remote/run_request.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import { PAGE_MESSAGE, pageMessageOf } from '../../values/model/event/metadata.js';
import { isPartial } from '../../values/model/event/stored.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { Drafts } from './agent/drafts.js';
import type { RunEnd, StopReason } from './agent/local_run.js';
import { type PageRun, PageRuns, type RunStarter } from './page_runs.js';
import { type QueuedMessage, RunsOfSessions, SessionRuns } from './session_runs.js';
import {
  cancelledError,
  type Report,
  runFailed,
  runStatusOf,
  storedStatus,
} from './agent/run_status.js';

export { RunDisplay, unansweredMessage } from './run_display.js';
export { answerMessage, requireAnswers } from './user_answers.js';

/**
 * Milliseconds that the server may take to store the message, and the end, of a run whose request has ended or was
 * lost.
 */
const MESSAGE_MS = 1000;
const END_MS = 3000;
const PAUSE_MS = 100;
/** Milliseconds between two reads while the server does not answer. */
const RECONNECT_MS = 2000;

/** The methods of a `RemoteSessionService` or of its cache. */
interface ApiServerService extends SessionService {
  run(
    request: CompositeSessionKey & RunOptions & { readonly onAccepted: () => void },
  ): AsyncGenerator<Event>;
  /** Of a cache: brings the copy up to date. */
  sync?(key: CompositeSessionKey): Promise<void>;
}

/** What the runs of a session share. */
interface Parts {
  readonly service: ApiServerService;
  readonly key: CompositeSessionKey;
  readonly agent: ServerAgent;
  /** The messages that were sent, and that no read has found yet. Nothing is sent twice. */
  readonly sent: Set<string>;
}

/**
 * A run of an agent of `adk api_server`. One request, which is sent once, is the run: who ends it ends the run. The
 * server stores the message under an id of its own, with the page's id in `customMetadata`.
 */
class ApiServerRun implements PageRun {
  readonly stored: Promise<Event>;
  readonly ended: Promise<RunEnd>;
  readonly #parts: Parts;
  readonly #asked: QueuedMessage;
  readonly #onChange: () => void;
  readonly #ending = new AbortController();
  readonly #drafts = new Drafts();
  /** The whole events that the server has sent. */
  readonly #events: Event[] = [];
  #isAccepted = false;
  #message: Event | undefined;
  #reading: Promise<unknown> | undefined;
  #reason: StopReason | undefined;
  #end: RunEnd | undefined;
  #resolveStored!: (stored: Event) => void;

  constructor(parts: Parts, asked: QueuedMessage, onChange: () => void) {
    this.#parts = parts;
    this.#asked = asked;
    this.#onChange = onChange;
    this.stored = new Promise((resolve) => (this.#resolveStored = resolve));
    this.ended = this.#run().then((end) => {
      this.#end = end;
      onChange();
      return end;
    });
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  get report(): Report | undefined {
    const { status = 'running', error } = this.#end ?? {};
    if (status === 'refused' || (this.#message === undefined && !this.#isAccepted))
      return undefined;
    const { all, wholes } = this.#drafts;
    const drafts = status === 'failed' ? keptDrafts({ status, drafts: all }) : all;
    const { id: askedAs } = this.#asked;
    const { id: messageId, invocationId } = this.#message ?? { id: askedAs, invocationId: '' };
    return { messageId, askedAs, invocationId, status, error, drafts, wholes };
  }

  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    this.#ending.abort(cancelledError(' Nothing was written.'));
    await this.ended;
  }

  /** Never rejects. */
  async #run(): Promise<RunEnd> {
    const { service, key, agent, sent } = this.#parts;
    const { id, admit, streaming } = this.#asked;
    const { signal } = this.#ending;
    let isSent = false;
    let failure: unknown;
    try {
      // A cache would create the session without a connection.
      await agent.reach?.();
      const { message, callEventId } = await admit();
      if (sent.has(id)) await this.#awaitMessage();
      if (this.#message !== undefined) return { status: 'ended' };
      signal.throwIfAborted();
      isSent = true;
      sent.add(id);
      const events = service.run({
        ...key,
        newMessage: message.content,
        stateDelta: message.actions.stateDelta,
        streaming,
        functionCallEventId: callEventId,
        customMetadata: { [PAGE_MESSAGE]: id },
        signal,
        onAccepted: () => this.#accept(),
      });
      for await (const event of events) this.#take(event);
    } catch (error) {
      if (!isSent) return { status: 'refused', error };
      failure = error;
    }
    await this.#reading;
    return this.#endOf(failure);
  }

  #accept(): void {
    this.#isAccepted = true;
    this.#onChange();
  }

  #take(event: Event): void {
    if (isPartial(event)) this.#drafts.add(event);
    else {
      this.#events.push(event);
      this.#drafts.show(event);
    }
    // The message is stored before the agent begins. The stream goes on meanwhile.
    this.#reading ??= this.#read().catch(() => undefined);
    this.#onChange();
  }

  /** Reads the session, and finds the message in it. */
  async #read(): Promise<readonly Event[]> {
    const { service, key, sent } = this.#parts;
    const { id } = this.#asked;
    await service.sync?.(key);
    const { events = [] } = (await service.getSession({ ...key })) ?? {};
    const message = events.findLast((event) => pageMessageOf(event) === id);
    if (message !== undefined && this.#message === undefined) {
      this.#message = message;
      sent.delete(id);
      this.#resolveStored(message);
      this.#onChange();
    }
    return events;
  }

  async #endOf(failure: unknown): Promise<RunEnd> {
    let isAnswered = false;
    let error = failure;
    const isLost = failure !== undefined && !isFailure(failure);
    try {
      if (this.#reason === 'cancelled') isAnswered = await this.#awaitEndEvent();
      else if (this.#message === undefined)
        await (mayArrive(failure) ? this.#awaitMessage() : this.#read());
      else if (isLost) await this.#readOnceBack();
    } catch (thrown) {
      error ??= thrown;
    }
    const reason = this.#reason;
    if (this.#message === undefined) {
      if (reason !== undefined) error = cancelledError(' It may be stored.', error);
      return { status: 'refused', error: error ?? lostMessage(), reason };
    }
    if (reason !== undefined) return { status: isAnswered ? 'ended' : 'cancelled', reason };
    const told = runStatusOf(this.#message, this.#events);
    if (told?.status === 'failed') return { status: 'failed', error: told.error };
    // If the answer was lost, the stored events tell what became of the run.
    if (!isFailure(failure)) return { status: 'ended' };
    return { status: 'failed', error: failure.code === 'remote' ? runFailed(failure) : failure };
  }

  /** Reads the session until it has the message. A server stores a message some time after it was sent. */
  async #awaitMessage(): Promise<void> {
    for (const begin = performance.now(); ; await pause(PAUSE_MS, this.#ending.signal)) {
      await this.#read();
      if (this.#message !== undefined || performance.now() - begin > MESSAGE_MS) return;
    }
  }

  /** Reads the session once the server answers again. Rejects if the run is stopped before. */
  async #readOnceBack(): Promise<void> {
    for (;;) {
      try {
        return void (await this.#read());
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
      await pause(RECONNECT_MS, this.#ending.signal);
    }
  }

  /** Waits until the server has stored how the run has ended. Returns whether the message is answered. */
  async #awaitEndEvent(): Promise<boolean> {
    for (const begin = performance.now(); ; await pause(PAUSE_MS, NEVER)) {
      const status = storedStatus(await this.#read());
      const isOpen = status?.status === 'unanswered' && status.messageId === this.#message?.id;
      if (this.#message !== undefined && !isOpen) return status?.status !== 'cancelled';
      const waitMs = this.#message === undefined ? MESSAGE_MS : END_MS;
      if (performance.now() - begin > waitMs) return false;
    }
  }
}

const NEVER = new AbortController().signal;

/** Whether the server has said that the run failed, and the request was not lost. */
function isFailure(error: unknown): error is SessionError {
  if (isSessionError(error, 'remote')) return error.status === 200;
  return isSessionError(error, 'stale_session') || isSessionError(error, 'not_found');
}

/** Whether the request has no answer of the server itself, which may still store the message. */
function mayArrive(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') || isTransient(error);
}

function lostMessage(): SessionError {
  return new SessionError('remote', 'The run has ended, and its session lacks the message.');
}

const runsOfServices = new RunsOfSessions();

/** Returns the runs of a session of `adk api_server`, which all stores of a service share. */
export function runsOf(service: SessionService, key: CompositeSessionKey): SessionRuns {
  const core: Core = coreOf(service)!;
  const agent = core.serverAgent!;
  const parts = { service: service as ApiServerService, key, agent, sent: new Set<string>() };
  const starter: RunStarter = {
    get isIdle() {
      return parts.sent.size === 0;
    },
    begin: (asked, onChange) => new ApiServerRun(parts, asked, onChange),
  };
  const channelName = core.publisher.feed.channelName ?? agent.channelName;
  const make = (): SessionRuns =>
    new SessionRuns((happened) => new PageRuns(service, key, happened, channelName, starter), {
      mayPause: true,
      isKnown: true,
    });
  return runsOfServices.get(core, key, make);
}
