import type { RunReport } from '../../core/run_report.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { Drafts } from '../../service/runs/agent/drafts.js';
import { runAgent } from '../../service/runs/agent/run_agent.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import type { AdmittedMessage } from '../../service/runs/runs.js';
import { cancelledError, isRunCancelled, sealRun } from '../../service/runs/state/cancelled.js';
import { AgentFailure } from '../http/agent_failure.js';
import { publicErrorOf } from '../http/error_response.js';

/** Why a run has no whole answer, as clients may know it. */
export type RunFailure = ReturnType<typeof publicErrorOf>;

/** What the runs of a server work with. */
export interface RunSettings {
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly maxRuns: number;
  /** Milliseconds after which a run is cancelled. */
  readonly maxRunMs: number;
  readonly waitUntil: ((running: Promise<unknown>) => void) | undefined;
}

/** A message that the agent is to answer. */
export interface ServerMessage {
  readonly key: CompositeSessionKey;
  readonly messageId: string;
  readonly streaming: boolean;
  /** Gets what the agent throws. */
  readonly onError: (error: unknown) => void;
  /** Called with each piece of an answer, and with each whole event, once it is stored. */
  readonly onEvent?: (event: Event) => void;
}

/** Why a run was stopped. */
type Stop = 'cancelled' | 'timeout' | 'closed' | 'deleted';

/** What a client is told of a run that was stopped. A run that took too long has an error with its limit. */
const STOPPED: Readonly<Partial<Record<Stop, RunFailure>>> = {
  cancelled: { code: 'aborted', message: 'The run was cancelled.' },
  closed: { code: 'closed', message: 'The server has stopped during the run.' },
  deleted: { code: 'not_found', message: 'The session was deleted during the run.' },
};

/**
 * The run of an agent on the server. It belongs to its session, and goes on when the request that began it has ended. First it
 * only reserves the session. Whoever has reserved it calls `begin`, or `giveUp` if the message is not stored.
 */
export class ServerRun {
  readonly #settings: RunSettings;
  readonly #asked: ServerMessage;
  readonly #onChange: () => void;
  readonly #controller = new AbortController();
  readonly #drafts = new Drafts();
  /** Resolves with the message once it is stored. Rejects if the run is given up. */
  readonly stored: Promise<Event>;
  /** Resolves when the run has ended; with a failure unless the agent has ended by itself. */
  readonly ended: Promise<RunFailure | undefined>;
  #resolveStored!: (stored: Event) => void;
  #rejectStored!: (error: unknown) => void;
  #resolveEnded!: (failure: RunFailure | undefined) => void;
  /** The message, once it is stored. */
  #message: Event | undefined;
  #stop: Stop | undefined;
  #outcome: Pick<RunReport, 'status' | 'error'> = { status: 'running' };

  /** @param onChange called after each change of the run */
  constructor(settings: RunSettings, asked: ServerMessage, onChange: () => void) {
    this.#settings = settings;
    this.#asked = asked;
    this.#onChange = onChange;
    this.stored = new Promise((resolve, reject) => {
      this.#resolveStored = resolve;
      this.#rejectStored = reject;
    });
    // Often nobody else waits for the same message.
    this.stored.catch(() => undefined);
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get messageId(): string {
    return this.#asked.messageId;
  }

  get isOver(): boolean {
    return this.#outcome.status !== 'running';
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): RunReport | undefined {
    if (this.#message === undefined) return undefined;
    const { appName, userId, sessionId } = this.#asked.key;
    const { id: messageId, invocationId } = this.#message;
    const { all: drafts, wholes } = this.#drafts;
    const key = { appName, userId, sessionId };
    return { ...key, messageId, invocationId, ...this.#outcome, drafts, wholes };
  }

  /**
   * Lets the agent answer the message. It may be called again if it rejects.
   *
   * @returns the message, once it is stored
   * @throws SessionError those of `storeMessage`, those that the agent throws before, `aborted`; AgentFailure if it throws others
   */
  begin(admitted: AdmittedMessage): Promise<Event> {
    return Promise.race([this.stored, this.#run(admitted)]);
  }

  /** Ends a run that has not begun: its message was not stored. */
  giveUp(error: unknown): void {
    this.#rejectStored(error);
    this.#end({ status: 'ended' });
  }

  /** Ends a run that has not begun: another process has stored the message, and runs the agent. */
  leaveToOther(stored: Event): void {
    this.#resolveStored(stored);
    this.#end({ status: 'ended' });
  }

  /** Stops the run, and waits until it has ended. */
  async stop(reason: Stop): Promise<void> {
    this.#stop ??= reason;
    this.#controller.abort(cancelledError());
    await this.ended;
  }

  /** No feed gets the texts of a deleted session. */
  #stopDeleted(): void {
    this.#drafts.clear();
    this.#onChange();
    void this.stop('deleted');
  }

  #end(outcome: Pick<RunReport, 'status' | 'error'>): void {
    this.#outcome = outcome;
    const { status, error } = outcome;
    const stop = status === 'cancelled' ? 'cancelled' : this.#stop;
    this.#resolveEnded(error ?? (stop && STOPPED[stop]));
    this.#onChange();
  }

  /** Rejects if the message was not stored. */
  async #run(admitted: AdmittedMessage): Promise<Event> {
    const { service, agent, maxRunMs } = this.#settings;
    const { key, streaming, onEvent } = this.#asked;
    const { signal } = this.#controller;
    if (admitted.isStored) this.#noteStored(admitted.message);
    const timer = setTimeout(() => void this.stop('timeout'), maxRunMs);
    const listening = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    try {
      service.watch(key, {
        signal: listening.signal,
        onNotice: ({ type }) => void (type === 'deleted' && this.#stopDeleted()),
      });
      if (signal.aborted) throw cancelledError();
      await runAgent({
        ...{ key, service, agent, signal, streaming, ...admitted },
        onStored: (stored) => this.#noteStored(stored),
        onPiece: (piece) => {
          this.#drafts.add(piece);
          this.#onChange();
          onEvent?.(piece);
        },
        onWhole: (whole) => {
          this.#drafts.end(whole);
          this.#onChange();
          onEvent?.(whole);
        },
      });
    } catch (error) {
      failure = { error };
    } finally {
      clearTimeout(timer);
      listening.abort();
    }
    if (this.#message === undefined) throw notStored(failure, signal.aborted);
    this.#end(await this.#outcomeOf(failure));
    return this.#message;
  }

  #noteStored(stored: Event): void {
    this.#message = stored;
    this.#resolveStored(stored);
    this.#onChange();
  }

  /** Returns how a run ends whose message is stored. Never rejects. */
  async #outcomeOf(
    failure: { readonly error: unknown } | undefined,
  ): Promise<Pick<RunReport, 'status' | 'error'>> {
    if (this.#stop === 'deleted') return { status: 'ended' };
    // Another process has cancelled the run: its next append was refused.
    if (isRunCancelled(failure?.error)) return { status: 'cancelled' };
    if (this.#stop !== undefined) {
      try {
        await this.#seal();
      } catch (error) {
        // A session that was deleted meanwhile needs no seal.
        if (!isSessionError(error, 'not_found')) return this.#failed(error);
      }
      if (this.#stop === 'closed') return { status: 'ended' };
      if (this.#stop === 'cancelled') return { status: 'cancelled' };
      const text = `The run took longer than ${this.#settings.maxRunMs} ms, and was cancelled.`;
      const error = new SessionError('timeout', text);
      this.#asked.onError(error);
      return { status: 'cancelled', error: { code: error.code, message: text } };
    }
    return failure === undefined ? { status: 'ended' } : this.#failed(failure.error);
  }

  #failed(thrown: unknown): Pick<RunReport, 'status' | 'error'> {
    this.#asked.onError(thrown);
    return { status: 'failed', error: publicErrorOf(thrown) };
  }

  async #seal(): Promise<void> {
    const { service, agent } = this.#settings;
    const sealing = await sealRun(service, {
      ...{ key: this.#asked.key, message: this.#message!, drafts: this.#drafts.all },
      agentName: agent.agentName,
      isUnanswered: false,
      sealedAs: this.#stop === 'closed' ? 'unanswered' : 'cancelled',
    });
    for (const event of sealing) this.#drafts.end(event as Event);
  }
}

/** Returns the error of a run that ended before its message was stored. */
function notStored(failure: { readonly error: unknown } | undefined, isAborted: boolean): unknown {
  if (isAborted) return cancelledError(' Nothing was written.');
  return isSessionError(failure?.error) ? failure.error : new AgentFailure(failure?.error);
}
