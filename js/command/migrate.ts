/**
 * Copies everything from a source to a target. Each session is looked up in the target, written if it is
 * missing, and read back. Its events are counted and its content is hashed, both in the source and in the
 * target. Each session is written in one transaction. If a run is interrupted, run the same command again: it
 * finds the sessions that are copied and copies the others.
 */
import type { SessionError } from '../errors/errors.js';
import { fingerprintOf, isSameFingerprint } from './stores/fingerprint.js';
import type { SessionCopy, StateCopy } from './stores/session_copy.js';
import { mergeState } from './stores/shared_state.js';
import { type Item, requireSessionError, type Source, type Target } from './stores/store.js';

/** Number of sessions, and of their events. */
export interface Count {
  sessions: number;
  events: number;
}

/** The result of a run. */
export interface MigrateResult {
  /** Written by this run. */
  readonly copied: Count;
  /** Already in the target, with the same content. */
  readonly skipped: Count;
  /** Copied or skipped, and then verified to be the same in the target as in the source. */
  readonly verified: Count;
  /** Number of sessions and states that failed, and of entries that could not be read. Each is reported. */
  failed: number;
  /** Number of `user:` and `app:` keys that keep another value in the target. Each is reported. */
  conflictingKeys: number;
}

export interface MigrateOptions {
  /** Whether different content in the target is replaced. */
  readonly overwrite: boolean;
  /** The apps that the source must have. */
  readonly apps: readonly string[];
  /** Called with a message for each problem. */
  readonly onProblem: (message: string) => void;
  /** Called after each item with the position in the source. */
  readonly onProgress: (position: number, result: MigrateResult) => void;
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
): Promise<MigrateResult> {
  const run = new MigrateRun(target, options);
  const missingApps = new Set(options.apps);
  for await (const item of source.items()) {
    await run.copyItem(item);
    options.onProgress(item.position, run.result);
    if (item.kind !== 'unreadable') missingApps.delete(appOf(item));
  }
  for (const app of missingApps) {
    run.recordFailure('--app', `FROM has no app ${JSON.stringify(app)}.`);
  }
  return run.result;
}

class MigrateRun {
  readonly result: MigrateResult = {
    copied: { sessions: 0, events: 0 },
    skipped: { sessions: 0, events: 0 },
    verified: { sessions: 0, events: 0 },
    failed: 0,
    conflictingKeys: 0,
  };
  readonly #target: Target;
  readonly #options: MigrateOptions;

  constructor(target: Target, options: MigrateOptions) {
    this.#target = target;
    this.#options = options;
  }

  async copyItem(item: Item): Promise<void> {
    switch (item.kind) {
      case 'unreadable':
        return this.recordFailure(item.name, item.error.message);
      case 'state':
        return this.#reportFailure(describeState(item.state), () => this.#copyState(item.state));
      case 'session':
        return this.#reportFailure(describeSession(item.session), () =>
          this.#copySession(item.session),
        );
    }
  }

  recordFailure(name: string, message: string): void {
    this.result.failed += 1;
    this.#options.onProblem(`${name}: ${message}`);
  }

  async #copySession(session: SessionCopy): Promise<void> {
    const { key } = session;
    const sourceFingerprint = fingerprintOf(session, this.#target.isFile);
    const targetFingerprint = await this.#target.fingerprint(key);
    const mustWrite =
      targetFingerprint === undefined || !isSameFingerprint(targetFingerprint, sourceFingerprint);
    if (mustWrite && targetFingerprint !== undefined && !this.#options.overwrite) {
      const counts = `${targetFingerprint.events} events in the target, ${sourceFingerprint.events} in the source`;
      return this.recordFailure(
        describeSession(session),
        `The target has a different session with that id (${counts}); --overwrite replaces it.`,
      );
    }
    if (mustWrite && targetFingerprint !== undefined) {
      await this.#target.replace(session);
    } else if (mustWrite && !(await this.#target.create(session))) {
      const message =
        'Another program has just created a session with that id; run the command again.';
      return this.recordFailure(describeSession(session), message);
    }
    const stored = mustWrite ? await this.#target.fingerprint(key) : targetFingerprint;
    if (stored === undefined || !isSameFingerprint(stored, sourceFingerprint)) {
      const counts = `${stored?.events ?? 0} of ${sourceFingerprint.events} events`;
      const message = `The session read back from the target differs from the source (${counts}).`;
      return this.recordFailure(describeSession(session), message);
    }
    const { copied, skipped, verified } = this.result;
    for (const count of [mustWrite ? copied : skipped, verified]) {
      count.sessions += 1;
      count.events += sourceFingerprint.events;
    }
  }

  async #copyState(state: StateCopy): Promise<void> {
    const conflictingKeys = await this.#target.addState(state, this.#options.overwrite);
    const { added } = mergeState(await this.#target.state(state.key), state.state, false);
    if (added !== undefined) {
      return this.recordFailure(
        describeState(state),
        'The state read back from the target lacks keys that were written.',
      );
    }
    for (const key of conflictingKeys) {
      this.result.conflictingKeys += 1;
      this.#options.onProblem(
        `${describeState(state)}: The target has a different value of ${JSON.stringify(key)}; --overwrite replaces it.`,
      );
    }
  }

  /** Reports an error that concerns only this item, so that the run continues with the others. */
  async #reportFailure(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      requireSessionError(error);
      this.recordFailure(name, messageWithCode(error));
    }
  }
}

function appOf(item: Exclude<Item, { kind: 'unreadable' }>): string {
  return item.kind === 'state' ? item.state.key.appName : item.session.key.appName;
}

function messageWithCode({ code, message }: SessionError): string {
  return `${message} (${code})`;
}

function describeSession({ key }: SessionCopy): string {
  const { appName, userId, sessionId } = key;
  return `session ${JSON.stringify(sessionId)} of ${JSON.stringify(userId)} in ${JSON.stringify(appName)}`;
}

function describeState({ key: { appName, userId } }: StateCopy): string {
  const app = JSON.stringify(appName);
  return userId === undefined
    ? `state of the app ${app}`
    : `state of the user ${JSON.stringify(userId)} in ${app}`;
}
