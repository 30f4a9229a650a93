/** What the command copies between, whatever it is underneath. */
import type { SessionError, SessionErrorCode } from '../../errors/errors.js';
import type { StorageKey } from '../../storage/adapter.js';
import type { Fingerprint } from './fingerprint.js';
import type { SessionCopy, StateCopy } from './session_copy.js';

/** One thing that a source holds; states come before the sessions that share them. */
export type Item = {
  /** How far the source is read, of {@link Source.size}. */
  readonly at: number;
} & (
  | { readonly kind: 'state'; readonly state: StateCopy }
  | { readonly kind: 'session'; readonly session: SessionCopy }
  /** A session, or what should be one, that cannot be read. */
  | { readonly kind: 'unreadable'; readonly name: string; readonly error: SessionError }
);

/** Is read from, and never changed. */
export interface Source {
  /** Looks whether it can be read. */
  open(): Promise<void>;
  /** What {@link Item.at} counts up to; it may become more meanwhile. */
  size(): Promise<number>;
  items(): AsyncGenerator<Item, void>;
  close(): Promise<void>;
}

/** Is written to, each session and each state in one step. */
export interface Target {
  /** Whether it holds only what a session file can; see `fingerprintOf`. */
  readonly isFile: boolean;
  open(): Promise<void>;
  /** Reads the stored session. `undefined`: there is none. */
  fingerprint(key: Required<StorageKey>): Promise<Fingerprint | undefined>;
  /** @returns `false`, and nothing is written, if it is there meanwhile */
  create(session: SessionCopy): Promise<boolean>;
  /** In the place of the one that is there, which stays should that fail. */
  replace(session: SessionCopy): Promise<void>;
  /**
   * Adds the keys that are missing there, or sets all.
   *
   * @returns the keys that it has with another value, and keeps
   */
  addState(state: StateCopy, overwrite: boolean): Promise<readonly string[]>;
  /** Reads the stored state of a user or an app, as JSON text. */
  state(key: StateCopy['key']): Promise<string>;
  close(): Promise<void>;
}

/** What is wrong with one session and no other; anything else ends the run. */
const OF_ONE_SESSION: ReadonlySet<SessionErrorCode> = new Set<SessionErrorCode>([
  'invalid_argument',
  'unserializable',
  'corrupt_record',
  'schema_violation',
]);

export function isOfOneSession(error: SessionError): boolean {
  return OF_ONE_SESSION.has(error.code);
}
