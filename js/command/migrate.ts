/**
 * Copies everything from a source to a target. Each session is looked up in the target, written if it is
 * missing, and read back. Its events are counted and its content is hashed, both in the source and in the
 * target. Each session is written in one transaction. If a run is interrupted, run the same command again: it
 * finds the sessions that are copied and copies the others.
 */
import { isSessionError, type SessionError } from '../errors/errors.js';
import { fingerprintOf, isSame } from './stores/fingerprint.js';
import type { SessionCopy, StateCopy } from './stores/session_copy.js';
import { mergeState } from './stores/shared_state.js';
import { isOfOneSession, type Item, type Source, type Target } from './stores/store.js';

/** Number of sessions, and of their events. */
export interface Count {
  sessions: number;
  events: number;
}

/** The result of a run. */
export interface Result {
  /** Written by this run. */
  readonly copied: Count;
  /** Already in the target, with the same content. */
  readonly skipped: Count;
  /** Copied or skipped, and then verified to be the same in the target as in the source. */
  readonly verified: Count;
  /** Number of sessions and states that failed, and of entries that could not be read. Each is reported. */
  failed: number;
  /** Number of `user:` and `app:` keys that keep another value in the target. Each is reported. */
  kept: number;
}

export interface MigrateOptions {
  /** Whether different content in the target is replaced. */
  readonly overwrite: boolean;
  /** Called with a message for each problem. */
  readonly onProblem: (message: string) => void;
  /** Called after each item with the position in the source. */
  readonly onProgress: (at: number, result: Result) => void;
}

/**
 * Copies everything from a source to a target.
 *
 * @throws SessionError an error that ends the run, such as a lost connection or a full disk
 */
export async function migrate(
  source: Source,
  target: Target,
  options: MigrateOptions,
): Promise<Result> {
  const run = new Run(target, options);
  for await (const item of source.items()) {
    await run.take(item);
    options.onProgress(item.at, run.result);
  }
  return run.result;
}

class Run {
  readonly result: Result = {
    copied: { sessions: 0, events: 0 },
    skipped: { sessions: 0, events: 0 },
    verified: { sessions: 0, events: 0 },
    failed: 0,
    kept: 0,
  };
  readonly #target: Target;
  readonly #options: MigrateOptions;

  constructor(target: Target, options: MigrateOptions) {
    this.#target = target;
    this.#options = options;
  }

  async take(item: Item): Promise<void> {
    switch (item.kind) {
      case 'unreadable':
        return this.#fail(item.name, item.error.message);
      case 'state':
        return this.#guarded(stateName(item.state), () => this.#state(item.state));
      case 'session':
        return this.#guarded(sessionName(item.session), () => this.#session(item.session));
    }
  }

  async #session(session: SessionCopy): Promise<void> {
    const { key } = session;
    const wanted = fingerprintOf(session, this.#target.isFile);
    const before = await this.#target.fingerprint(key);
    const isNew = before === undefined || !isSame(before, wanted);
    if (isNew && before !== undefined && !this.#options.overwrite) {
      const counts = `${before.events} events there, ${wanted.events} in the source`;
      return this.#fail(
        sessionName(session),
        `The target has another session of that id (${counts}), which was left as it is; --overwrite replaces it.`,
      );
    }
    if (isNew && before !== undefined) {
      await this.#target.replace(session);
    } else if (isNew && !(await this.#target.create(session))) {
      const message = 'Somebody else has stored a session of that id this moment; run it again.';
      return this.#fail(sessionName(session), message);
    }
    const stored = isNew ? await this.#target.fingerprint(key) : before;
    if (stored === undefined || !isSame(stored, wanted)) {
      const counts = `${stored?.events ?? 0} of ${wanted.events} events`;
      const message = `What the target gives back is not what was written (${counts}).`;
      return this.#fail(sessionName(session), message);
    }
    const { copied, skipped, verified } = this.result;
    for (const count of [isNew ? copied : skipped, verified]) {
      count.sessions += 1;
      count.events += wanted.events;
    }
  }

  async #state(state: StateCopy): Promise<void> {
    const kept = await this.#target.addState(state, this.#options.overwrite);
    const { added } = mergeState(await this.#target.state(state.key), state.state, false);
    if (added !== undefined) {
      return this.#fail(
        stateName(state),
        'What the target gives back lacks keys that were written.',
      );
    }
    for (const key of kept) {
      this.result.kept += 1;
      this.#options.onProblem(
        `${stateName(state)}: The target has another value of ${JSON.stringify(key)}, which was left as it is; --overwrite replaces it.`,
      );
    }
  }

  /** Reports an error that concerns only this item, so that the run continues with the others. */
  async #guarded(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isSessionError(error) || !isOfOneSession(error)) throw error;
      this.#fail(name, messageOf(error));
    }
  }

  #fail(name: string, message: string): void {
    this.result.failed += 1;
    this.#options.onProblem(`${name}: ${message}`);
  }
}

function messageOf({ code, message }: SessionError): string {
  return `${message} (${code})`;
}

function sessionName({ key }: SessionCopy): string {
  const { appName, userId, sessionId } = key;
  return `session ${JSON.stringify(sessionId)} of ${JSON.stringify(userId)} in ${JSON.stringify(appName)}`;
}

function stateName({ key: { appName, userId } }: StateCopy): string {
  const app = JSON.stringify(appName);
  return userId === undefined
    ? `state of the app ${app}`
    : `state of the user ${JSON.stringify(userId)} in ${app}`;
}
