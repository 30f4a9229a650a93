import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Event } from '../../values/model/event/event.js';
import type { AdmittedMessage, AskedMessage } from './runs.js';

/** A message that waits, and its caller. */
export interface QueuedMessage extends AskedMessage {
  readonly resolve: (stored: Event) => void;
  readonly reject: (error: unknown) => void;
}

/** The most times that a message is admitted again because the session has changed. */
const MAX_ADMISSIONS = 5;

/** The messages of one session that wait for their runs, and who is told of changes. */
export abstract class RunQueue {
  protected readonly queue: QueuedMessage[] = [];
  /** Whether the queue stands still until the next `ask` or `retry`, because a run has failed or was cancelled. */
  protected isPaused = false;
  readonly #listeners = new Set<() => void>();
  #isWorking = false;

  /** The message whose turn it is. */
  protected abstract readonly next: QueuedMessage | undefined;

  /** Takes the next message out of the queue, and has it answered. Puts it back if it has to wait. Never rejects. */
  protected abstract answerNext(): Promise<void>;

  ask(asked: AskedMessage): Promise<Event> {
    return new Promise((resolve, reject) => {
      const queued = { ...asked, resolve, reject };
      if (asked.isOfRewind === true) this.queue.unshift(queued);
      else this.queue.push(queued);
      this.#resume();
    });
  }

  isQueued(messageId: string): boolean {
    return this.queue.some(({ id }) => id === messageId);
  }

  retry(messageId: string): boolean {
    const isQueued = this.isQueued(messageId);
    if (isQueued) this.#resume();
    return isQueued;
  }

  discard(messageId: string): boolean {
    const at = this.queue.findIndex(({ id }) => id === messageId);
    if (at < 0) return false;
    const [asked] = this.queue.splice(at, 1);
    asked!.reject(new SessionError('aborted', 'The message was cancelled before its run.'));
    this.changed();
    return true;
  }

  protected discardAll(): void {
    for (const { id } of [...this.queue]) this.discard(id);
  }

  /**
   * Returns the calls that messages answer.
   *
   * @param current the message that has left the queue
   */
  protected callsAnsweredBy(current: QueuedMessage | undefined): string[] {
    return [...this.queue, ...(current ? [current] : [])].flatMap(({ callIds }) => callIds);
  }

  /** Calls `listener` after changes. The returned function removes it, and returns whether it was still there. */
  protected listen(listener: () => void): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  protected get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  protected changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  protected async work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.next !== undefined) await this.answerNext();
    this.#isWorking = false;
  }

  #resume(): void {
    this.isPaused = false;
    this.changed();
    void this.work();
  }
}

/**
 * Admits a message and stores it. If the session has changed meanwhile, admits it again.
 *
 * @param isStored returns whether the message is stored although `store` has failed
 */
export async function storeAdmitted<Result>(
  { admit }: AskedMessage,
  store: (admitted: AdmittedMessage) => Promise<Result>,
  isStored: () => boolean,
): Promise<Result> {
  for (let admissions = 1; ; admissions += 1) {
    const admitted = await admit();
    try {
      return await store(admitted);
    } catch (error) {
      const isOther = isSessionError(error, 'stale_session') && !isStored();
      const mayRepeat = admitted.expectedRevision !== undefined && admissions < MAX_ADMISSIONS;
      if (!isOther || !mayRepeat) throw error;
    }
  }
}
