/** The stores that the command copies between, whatever storage they use. */
import { isSessionError, type SessionError, type SessionErrorCode } from '../../errors/errors.js';
import type { StorageKey } from '../../storage/rows.js';
import type { Fingerprint } from './fingerprint.js';
import type { SessionCopy, StateCopy } from './session_copy.js';

/** One item of a source. States come before the sessions that share them. */
export type Item = {
  /** Position in the source, up to {@link Source.size}. */
  readonly position: number;
} & (
  | { readonly kind: 'state'; readonly state: StateCopy }
  | { readonly kind: 'session'; readonly session: SessionCopy }
  /** A session or line that cannot be read. */
  | { readonly kind: 'unreadable'; readonly name: string; readonly error: SessionError }
);

/** A store that is only read. */
export interface Source {
  /** Opens the store, and checks that it can be read. */
  open(): Promise<void>;
  /** Returns the maximum of {@link Item.position}; the store may grow meanwhile. */
  size(): Promise<number>;
  items(): AsyncGenerator<Item, void>;
  close(): Promise<void>;
}

/** A store that is written to. Each session and each state is written atomically. */
export interface Target {
  /** Whether it can store only the content of a session file; see `fingerprintOf`. */
  readonly isFile: boolean;
  open(): Promise<void>;
  /** Reads the stored session, and returns its fingerprint; `undefined` if there is none. */
  fingerprint(key: Required<StorageKey>): Promise<Fingerprint | undefined>;
  /**
   * Writes a new session.
   *
   * @returns `false` if the session exists already; then nothing is written
   */
  create(session: SessionCopy): Promise<boolean>;
  /** Replaces the stored session. If this fails, the old one stays. */
  replace(session: SessionCopy): Promise<void>;
  /**
   * Adds the missing keys to the stored state; with `overwrite`, sets all keys.
   *
   * @returns the keys that keep another value in the store
   */
  addState(state: StateCopy, overwrite: boolean): Promise<readonly string[]>;
  /** Reads the stored state of a user or an app, as JSON text. */
  state(key: StateCopy['key']): Promise<string>;
  close(): Promise<void>;
}

/** Errors that concern only one session; any other error ends the run. */
const SESSION_ERRORS: ReadonlySet<SessionErrorCode> = new Set<SessionErrorCode>([
  'invalid_argument',
  'unserializable',
  'corrupt_record',
  'schema_violation',
]);

/** @throws the error itself, unless it concerns only one session */
export function requireSessionError(error: unknown): asserts error is SessionError {
  if (!isSessionError(error) || !SESSION_ERRORS.has(error.code)) throw error;
}
