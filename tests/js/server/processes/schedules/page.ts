// A page in a schedule, and what it has asked.

import { rewind } from '../../../../../js/core/history/index.js';
import {
  type CompositeSessionKey,
  type Event,
  isSessionError,
  type SessionError,
  type SessionService,
} from '../../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { type LiveSession, liveSession } from '../../../../../js/ui/live/index.js';
import { asks, textsOf } from '../../../ui/live/runs/agents.js';
import type { Cluster } from './cluster.js';
import type { Step } from './plan.js';

/** A call of a page. Times are those of `performance.now`. */
export interface Call {
  readonly kind: Step['kind'];
  /** Whether a message is acknowledged once it is in an outbox. */
  readonly isCached: boolean;
  readonly began: number;
  ended?: number;
  /** The message that was acknowledged. */
  message?: Event;
  error?: SessionError;
}

export class Page {
  readonly chat: LiveSession;
  readonly isCached: boolean;
  readonly calls: Call[] = [];
  /** What the page has shown of runs, for a failure. */
  readonly shown: string[] = [];
  readonly #key: CompositeSessionKey;
  readonly #service: SessionService;
  readonly #remote: RemoteSessionService;
  readonly #stop: () => void;
  #failure: unknown;

  constructor(cluster: Cluster, key: CompositeSessionKey, isCached: boolean) {
    this.#key = key;
    this.isCached = isCached;
    this.#remote = new RemoteSessionService({ url: 'http://127.0.0.1', fetch: cluster.fetch });
    this.#service = isCached
      ? new CachedSessionService({
          owner: key.userId,
          remote: this.#remote,
          local: new MemoryLocalStore(),
        })
      : this.#remote;
    this.chat = liveSession(this.#service, key);
    this.#stop = this.chat.subscribe(({ run, events }) => {
      const { status, messageId, isElsewhere = false } = run ?? {};
      const text = `${textsOf(events).join('|')}: ${status} ${messageId} ${isElsewhere}`;
      if (this.shown.at(-1)?.endsWith(text) !== true) {
        this.shown.push(`${Math.round(performance.now())} ${text}`);
      }
    });
  }

  /** The calls that have not settled. */
  get waiting(): readonly string[] {
    return this.calls.filter(({ ended }) => ended === undefined).map(({ kind }) => kind);
  }

  /** @throws what a call has thrown that is no SessionError */
  requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Does a step. A step that finds nothing to change does nothing. @param text tells the message of the step */
  act({ kind, place }: Step, text: string): void {
    const { chat } = this;
    const { events, questions } = chat.getSnapshot();
    const messages = events.filter(({ author, content }) => author === 'user' && content);
    const message = messages[Math.floor(place * messages.length)];
    switch (kind) {
      case 'answer': {
        const question = questions[0];
        if (question === undefined) return;
        return this.#call(kind, chat.answer({ [question.callId]: { note: text } }));
      }
      case 'cancel':
        return this.#call(kind, chat.cancel());
      case 'rename':
        return this.#call(kind, chat.rename(text));
      case 'delete':
        return this.#call(kind, chat.remove());
      case 'edit':
        return message && this.#call(kind, chat.edit(message.id, asks(`edit ${text}`)));
      case 'regenerate':
        return message && this.#call(kind, chat.regenerate(message.id));
      case 'rewind': {
        if (message === undefined) return;
        const before = { invocationId: message.invocationId };
        return this.#call(kind, rewind(this.#service, { ...this.#key, before }));
      }
      default:
        return this.#call(kind, chat.ask(asks(`${kind} ${text}`)));
    }
  }

  /** Resumes a queue that a cancelled or failed run has paused. */
  resume(): void {
    const { run } = this.chat.getSnapshot();
    if (run?.isPaused === true) void this.chat.retry(run.messageId).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#service.close();
    await this.#remote.close();
  }

  #call(kind: Step['kind'], promise: Promise<unknown>): void {
    const call: Call = { kind, isCached: this.isCached, began: performance.now() };
    this.calls.push(call);
    void promise
      .then((result) => {
        if (isEvent(result)) call.message = result;
      })
      .catch((error: unknown) => {
        if (isSessionError(error)) call.error = error;
        else this.#failure ??= error;
      })
      .finally(() => (call.ended = performance.now()));
  }
}

function isEvent(value: unknown): value is Event {
  return typeof value === 'object' && value !== null && 'invocationId' in value && 'id' in value;
}
