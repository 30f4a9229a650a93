import type { RunReport } from '../../core/run_report.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { Drafts } from '../../service/runs/agent/drafts.js';
import { runAgent } from '../../service/runs/agent/run_agent.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import type { AdmittedMessage } from '../../service/runs/runs.js';
import {
  cancelledError,
  isRunCancelled,
  type SealedAs,
  sealRun,
} from '../../service/runs/state/cancelled.js';
import { AgentFailure } from '../http/agent_failure.js';
import { publicErrorOf } from '../http/error_response.js';

/** Why a run has no whole answer, as clients may know it. */
export type RunFailure = ReturnType<typeof publicErrorOf>;

/** Gets what a run yields. It is called until the run has ended. */
export interface RunOutput {
  /** Called with each piece of an answer, and with each whole event, once it is stored. */
  readonly onEvent: (event: Event) => void;
  /** Called once, when the run of a stored message has ended. `failure` is absent if the agent has ended by itself. */
  readonly onEnd: (failure: RunFailure | undefined) => void;
}

/** What a run works with. */
export interface ServerRunParts {
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly key: CompositeSessionKey;
  readonly messageId: string;
  readonly streaming: boolean;
  /** Milliseconds after which the run is cancelled. */
  readonly maxRunMs: number;
  /** Called after each change of the state. */
  readonly onChange: () => void;
  /** Gets what the agent throws. */
  readonly onError: (error: unknown) => void;
  readonly listener: RunOutput | undefined;
}

/** Why a run was stopped. */
type Stop = 'cancelled' | 'timeout' | 'closed' | 'deleted';

/** What a client is told of a run that was stopped. A run that took too long has an error with its limit. */
const STOPPED: Readonly<Partial<Record<Stop, RunFailure>>> = {
  cancelled: { code: 'aborted', message: 'The run was cancelled.' },
  closed: { code: 'closed', message: 'The server has stopped during the run.' },
  deleted: { code: 'not_found', message: 'The session was deleted during the run.' },
};

/** The run of an agent on the server. It belongs to its session, and goes on when the request that began it has ended. */
export class ServerRun {
  readonly #parts: ServerRunParts;
  readonly #controller = new AbortController();
  readonly #drafts = new Drafts();
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
  #end = (): void => undefined;
  /** The message, once it is stored. */
  #message: Event | undefined;
  #stop: Stop | undefined;
  #outcome: Pick<RunReport, 'status' | 'error'> = { status: 'running' };

  constructor(parts: ServerRunParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  get key(): CompositeSessionKey {
    return this.#parts.key;
  }

  get messageId(): string {
    return this.#parts.messageId;
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): RunReport | undefined {
    if (this.#message === undefined) return undefined;
    const { appName, userId, sessionId } = this.key;
    const { id: messageId, invocationId } = this.#message;
    const { all: drafts, wholes } = this.#drafts;
    const key = { appName, userId, sessionId };
    return { ...key, messageId, invocationId, ...this.#outcome, drafts, wholes };
  }

  /**
   * Lets the agent answer a message. It may be called again if it rejects.
   *
   * @returns the message, once it is stored
   * @throws SessionError those of `storeMessage`, those that the agent throws before, `aborted`; AgentFailure if it throws others
   */
  begin(admitted: AdmittedMessage): Promise<Event> {
    return new Promise((resolve, reject) => {
      this.#run(admitted, resolve).catch(reject);
    });
  }

  /** Stops the run, and waits until it has ended. */
  async stop(reason: Stop): Promise<void> {
    this.#stop ??= reason;
    this.#controller.abort(cancelledError());
    await this.ended;
  }

  /** Ends the run because its message was not stored. */
  giveUp(): void {
    this.#end();
  }

  async #run(admitted: AdmittedMessage, resolve: (stored: Event) => void): Promise<void> {
    const { service, agent, key, streaming, maxRunMs, onChange, listener } = this.#parts;
    const { signal } = this.#controller;
    const noteStored = (stored: Event): void => {
      this.#message = stored;
      resolve(stored);
      onChange();
    };
    if (admitted.isStored) noteStored(admitted.message);
    const timer = setTimeout(() => void this.stop('timeout'), maxRunMs);
    const listening = new AbortController();
    service.watch(key, {
      signal: listening.signal,
      onNotice: ({ type }) => void (type === 'deleted' && this.stop('deleted')),
    });
    let failure: { readonly error: unknown } | undefined;
    try {
      if (signal.aborted) throw cancelledError();
      await runAgent({
        ...{ key, service, agent, signal, streaming, ...admitted },
        onStored: noteStored,
        onPiece: (piece) => {
          this.#drafts.add(piece);
          onChange();
          listener?.onEvent(piece);
        },
        onWhole: (whole) => {
          this.#drafts.end(whole);
          onChange();
          listener?.onEvent(whole);
        },
      });
    } catch (error) {
      failure = { error };
    } finally {
      clearTimeout(timer);
      listening.abort();
    }
    if (this.#message === undefined) throw notStored(failure, signal.aborted);
    this.#outcome = await this.#outcomeOf(failure);
    this.#end();
    onChange();
    listener?.onEnd(this.#failure);
  }

  get #failure(): RunFailure | undefined {
    const { status, error } = this.#outcome;
    const stop = status === 'cancelled' ? 'cancelled' : this.#stop;
    return error ?? (stop && STOPPED[stop]);
  }

  /** Ends a run whose message is stored. Never rejects. */
  async #outcomeOf(
    failure: { readonly error: unknown } | undefined,
  ): Promise<Pick<RunReport, 'status' | 'error'>> {
    const { onError } = this.#parts;
    if (this.#stop === 'deleted') return { status: 'ended' };
    // Another process has cancelled the run: its next append was refused.
    if (isRunCancelled(failure?.error)) return { status: 'cancelled' };
    if (this.#stop !== undefined) {
      try {
        await this.#seal(this.#stop === 'closed' ? 'unanswered' : 'cancelled');
      } catch (error) {
        // A session that was deleted meanwhile needs no seal.
        if (!isSessionError(error, 'not_found')) return this.#failed(error);
      }
      if (this.#stop === 'closed') return { status: 'ended' };
      if (this.#stop === 'cancelled') return { status: 'cancelled' };
      const text = `The run took longer than ${this.#parts.maxRunMs} ms, and was cancelled.`;
      const error = new SessionError('timeout', text);
      onError(error);
      return { status: 'cancelled', error: { code: error.code, message: text } };
    }
    return failure === undefined ? { status: 'ended' } : this.#failed(failure.error);
  }

  #failed(thrown: unknown): Pick<RunReport, 'status' | 'error'> {
    this.#parts.onError(thrown);
    return { status: 'failed', error: publicErrorOf(thrown) };
  }

  async #seal(sealedAs: SealedAs): Promise<void> {
    const { service, key, agent } = this.#parts;
    const drafts = this.#drafts.all;
    const run = { key, message: this.#message!, drafts, agentName: agent.agentName, sealedAs };
    const sealing = await sealRun(service, { ...run, isUnanswered: false });
    for (const event of sealing) this.#drafts.end(event as Event);
  }
}

/** Returns the error of a run that ended before its message was stored. */
function notStored(failure: { readonly error: unknown } | undefined, isAborted: boolean): unknown {
  if (isAborted) return cancelledError(' Nothing was written.');
  return isSessionError(failure?.error) ? failure.error : new AgentFailure(failure?.error);
}
