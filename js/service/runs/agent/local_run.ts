import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { RunUnderWay } from '../../../core/history_types.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import {
  cancelledError,
  isFenced,
  sealingOf,
  type SealedRun,
  sealRun,
} from '../state/cancelled.js';
import type { Report } from '../state/run_status.js';
import { Drafts } from './drafts.js';
import { runAgent } from './run_agent.js';
import type { RunAgent } from './run_context.js';
import type { AdmittedMessage } from './run_storage.js';

/** Why a run is stopped. */
export type StopReason = 'cancelled' | 'timeout' | 'closed' | 'deleted' | 'rewound';

/** How a run has ended. */
export interface RunEnd {
  /** `refused`: its message was not stored. */
  readonly status: 'ended' | 'failed' | 'cancelled' | 'refused';
  /** Why it was refused or has failed, or the time limit that has cancelled it. */
  readonly error?: unknown;
  /** Why it was stopped, if it was. */
  readonly reason?: StopReason | undefined;
}

/** A message that an agent of this program answers. */
export interface LocalMessage {
  readonly key: CompositeSessionKey;
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly streaming: boolean;
  /** Milliseconds from the beginning after which the run is cancelled. Absent: none. */
  readonly maxRunMs?: number | undefined;
  /** See `AgentRun`. */
  readonly admit: () => Promise<AdmittedMessage>;
  /** Called after each change of the run, and once it has ended. */
  readonly onChange: () => void;
  /** Called with each piece of an answer, and with each whole event, once it is stored. */
  readonly onEvent?: ((event: Event) => void) | undefined;
}

/** A run of an agent in this program, in a page or on a server. It belongs to its session, and not to who has asked. */
export class LocalRun {
  readonly #asked: LocalMessage;
  readonly #controller = new AbortController();
  readonly #drafts = new Drafts();
  /** Resolves with the message once it is stored. Rejects if the run ends before. */
  readonly stored: Promise<Event>;
  /** Resolves when the run has ended and is sealed. */
  readonly ended: Promise<RunEnd>;
  #message: Event | undefined;
  #reason: StopReason | undefined;
  #end: RunEnd | undefined;
  #resolveStored!: (stored: Event) => void;
  #rejectStored!: (error: unknown) => void;

  constructor(asked: LocalMessage) {
    this.#asked = asked;
    this.stored = new Promise((resolve, reject) => {
      this.#resolveStored = resolve;
      this.#rejectStored = reject;
    });
    // Often nobody waits for it.
    this.stored.catch(() => undefined);
    this.ended = this.#run();
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): Report | undefined {
    if (this.#message === undefined) return undefined;
    const { id: messageId, invocationId } = this.#message;
    const { status = 'running', error } = this.#end ?? {};
    if (status === 'refused') return undefined;
    const { all: drafts, wholes } = this.#drafts;
    return { messageId, invocationId, status, error, drafts, wholes };
  }

  /** The run for a rewind that undoes it. `undefined` unless it is under way, and its message stored. */
  get underWay(): (RunUnderWay & { readonly sealed: SealedRun }) | undefined {
    const message = this.#message;
    if (message === undefined || this.isOver) return undefined;
    return {
      ...{ message, sealed: this.#sealed },
      sealing: (events) => sealingOf(this.#sealed, events),
      cancel: () => this.stop('cancelled'),
      abort: () => this.stop('rewound'),
    };
  }

  get #sealed(): SealedRun {
    const { agentName } = this.#asked.agent;
    return { message: this.#message!, drafts: this.#drafts.all, agentName };
  }

  /** Stops the run, and waits until it has ended. Only a run that is cancelled, too long or closed is sealed here. */
  async stop(reason: StopReason): Promise<void> {
    this.#reason ??= reason;
    this.#controller.abort(cancelledError());
    await this.ended;
  }

  /** Nobody is told the texts of a deleted session. */
  #stopDeleted(): void {
    this.#drafts.clear();
    this.#asked.onChange();
    void this.stop('deleted');
  }

  async #run(): Promise<RunEnd> {
    const { key, service, maxRunMs, onChange, onEvent } = this.#asked;
    const { signal } = this.#controller;
    const late = (): void => void this.stop('timeout');
    const timer = maxRunMs === undefined ? undefined : setTimeout(late, maxRunMs);
    const watching = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    try {
      await runAgent({
        ...this.#asked,
        signal,
        onStored: (message) => {
          this.#message = message;
          this.#resolveStored(message);
          service.watch(key, {
            signal: watching.signal,
            onNotice: ({ type }) => void (type === 'deleted' && this.#stopDeleted()),
          });
          onChange();
        },
        onPiece: (piece) => {
          this.#drafts.add(piece);
          onChange();
          onEvent?.(piece);
        },
        onWhole: (whole) => {
          this.#drafts.end(whole);
          onChange();
          onEvent?.(whole);
        },
      });
    } catch (error) {
      failure = { error };
    } finally {
      clearTimeout(timer);
      watching.abort();
    }
    const end = await this.#endOf(failure);
    this.#end = end;
    this.#rejectStored(end.error);
    onChange();
    return end;
  }

  /** Returns how the run ends, and seals it. Never rejects. */
  async #endOf(failure: { readonly error: unknown } | undefined): Promise<RunEnd> {
    const reason = this.#reason;
    const message = this.#message;
    if (message === undefined) {
      const error = reason === undefined ? failure?.error : this.#stopError(reason);
      return { status: 'refused', error, reason };
    }
    if (reason === 'deleted') return { status: 'ended', reason };
    // Another process has cancelled the run, or a rewind has undone it: its next append was refused.
    if (reason === 'rewound' || isFenced(failure?.error)) return { status: 'cancelled', reason };
    if (reason === undefined) {
      return failure ? { status: 'failed', error: failure.error } : { status: 'ended' };
    }
    const sealedAs = reason === 'closed' ? 'unanswered' : 'cancelled';
    try {
      const { key, service } = this.#asked;
      const run = { ...this.#sealed, key, isUnanswered: false, sealedAs } as const;
      for (const event of await sealRun(service, run)) this.#drafts.end(event as Event);
    } catch (error) {
      // A session that was deleted meanwhile needs no seal.
      if (!isSessionError(error, 'not_found')) return { status: 'failed', error, reason };
    }
    if (reason === 'closed') return { status: 'ended', reason };
    const error = reason === 'timeout' ? this.#stopError(reason) : undefined;
    return { status: 'cancelled', error, reason };
  }

  #stopError(reason: StopReason): SessionError {
    if (reason === 'closed')
      return new SessionError('closed', 'The server has stopped during the run.');
    if (reason !== 'timeout') return cancelledError(' Nothing was written.');
    const text = `The run took longer than ${this.#asked.maxRunMs} ms, and was cancelled.`;
    return new SessionError('timeout', text);
  }
}
