/**
 * Where files are kept: the interface of the four homes, which are memory, IndexedDB, a folder, and SQL
 * (`js/stores/database/artifacts`). The names are checked, and a home knows neither parts of the ADK nor sessions.
 */
import type { ArtifactUsage, ArtifactUsageRequest } from '../../values/model/artifact.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { FileOwner, FilePlace } from './artifact_names.js';
import type { HostBlob } from '../../values/model/host.js';

/** What a version is stored with besides its bytes. It is JSON. */
export interface FileFacts {
  /** Absent: a text in UTF-8. */
  readonly mimeType?: string | undefined;
  readonly displayName?: string | undefined;
  readonly customMetadata?: Record<string, unknown> | undefined;
  readonly author?: string | undefined;
  /** Names the put, for its repetitions. */
  readonly id?: string | undefined;
}

/** A stored version of a file. */
export interface FileVersion {
  readonly version: number;
  readonly facts: FileFacts;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly createTime: number;
  readonly hash?: string | undefined;
}

/** A file to store. */
export interface NewFile {
  readonly data: HostBlob | AsyncIterable<Uint8Array>;
  readonly facts: FileFacts;
  /** The type that it gets if it has no bytes. Absent: that of `facts`. */
  readonly emptyMimeType?: string | undefined;
  readonly createTime: number;
  /** The number that it must get. Absent: the next one. A file that has the number already is left as it is. */
  readonly version?: number | undefined;
  /** The number of the session that the file is stored for, if it is known. */
  readonly created?: number | undefined;
}

/** A part of a file, in bytes. */
export interface ByteRange {
  readonly start: number;
  /** The byte after the last one; at most the size of the file. */
  readonly end: number;
}

/** A version as a home has it. */
export type KnownVersion = Pick<FileVersion, 'version' | 'facts'> & {
  /** Whether it is the tombstone of a deleted file: its last version, so that its number is not given again. */
  readonly isDeleted?: boolean;
};

/** Whose files are erased: a session's, or without `sessionId` all files of a user, those of sessions included. */
export interface ErasedOwner extends Pick<FileOwner, 'appName' | 'userId'> {
  readonly sessionId?: string | undefined;
  /** Of a session: spares the files of a later one with its id, if the home tells them apart. */
  readonly created?: number | undefined;
  /**
   * Spares files that were stored after this time, if the home tells: those of later sessions of the user, and copies for
   * a fork. Milliseconds since 1970, by the clock of the device.
   */
  readonly before?: number | undefined;
}

/**
 * Says that files are about to be erased, until that is done. A program that ends in between leaves the note, and the
 * next one that opens the home finishes what it says.
 */
export interface ErasureNote {
  /** Names the note. */
  readonly id: string;
  readonly owner: ErasedOwner;
  /**
   * `'deletion'`: the files are erased unless the witness is there. `'fork'`: the files of a new session are erased unless
   * that is there.
   */
  readonly reason: 'deletion' | 'fork';
  /** A session that is deleted in the same step as the owner. Absent: the owner has none. */
  readonly witness?: SessionWitness | undefined;
}

/** A session as it was before its deletion. */
export interface SessionWitness {
  readonly key: CompositeSessionKey;
  /** The number that tells it from a later session with the id. */
  readonly created: number;
}

/** Keeps the notes of a home whose files outlive the program, and are not stored with the sessions. */
export interface ErasureNotes {
  /** Keeps the note until the work has succeeded. */
  during<T>(note: ErasureNote, work: () => Promise<T>): Promise<T>;
  /** Returns the notes whose work failed, or whose program has ended. */
  abandoned(): Promise<readonly ErasureNote[]>;
  delete(note: ErasureNote): Promise<void>;
}

/** What a home does whose files are not stored with the sessions. */
export interface SeparateFiles {
  /** Absent if the files end with the program, or if a program that ends during a deletion leaves files. */
  readonly notes?: ErasureNotes | undefined;
  /** Erases all files of an owner. */
  erase(owner: ErasedOwner): Promise<void>;
  /** Copies all files of a session, with their numbers. Those that the other session has stay. */
  copy(from: CompositeSessionKey, to: CompositeSessionKey, call: Abortable): Promise<void>;
  /**
   * Requires that the files of an owner can be erased.
   *
   * @throws SessionError `invalid_argument` if the home takes the owner for another one that has files
   */
  requireErasable?(owner: ErasedOwner): Promise<void>;
  /**
   * Removes one version, whose session was deleted during its put. Absent if the home cannot.
   *
   * @param created the number of that session: a later one with its id may have a version of the number
   */
  takeBack?(place: FilePlace, version: number, created: number): Promise<void>;
}

/** Keeps files. */
export interface ArtifactHome {
  /**
   * Absent if a put fails with `not_found` if there is no session, and sessions are deleted and forked with their files.
   * Otherwise the caller sees to all that.
   */
  readonly separate?: SeparateFiles | undefined;
  /** Whether `open` reads the whole file for each range of it. Its range may end behind the file. */
  readonly readsWhole?: boolean;
  /** Whether the Blob of `open` has its bytes in memory. Otherwise it reads them from where they are. */
  readonly readsIntoMemory?: boolean;
  /**
   * Stores a version, whole or not at all. Returns the version as it is stored. The caller has looked for an earlier put
   * with its id or number. A home that decides within the step that stores the version looks again.
   */
  put(place: FilePlace, file: NewFile, call: Abortable): Promise<FileVersion>;
  /** Returns the versions of a file that is not deleted, in order. */
  versions(place: FilePlace, call: Abortable): Promise<readonly FileVersion[]>;
  /** Returns the names of an owner's files, in any order. */
  names(owner: FileOwner, call: Abortable): Promise<readonly string[]>;
  /** Returns bytes of a version; `undefined` if it is gone. */
  open(
    place: FilePlace,
    version: number,
    range: ByteRange,
    call: Abortable,
  ): Promise<HostBlob | undefined>;
  /** Deletes a file. */
  delete(place: FilePlace, call: Abortable): Promise<void>;
  usage(request: ArtifactUsageRequest, call: Abortable): Promise<ArtifactUsage>;
  close?(): void | Promise<void>;
}

/** Copies the files of a session one by one, for a home that has no way of its own. */
export async function copyFiles(
  home: ArtifactHome,
  from: CompositeSessionKey,
  to: CompositeSessionKey,
  call: Abortable,
): Promise<void> {
  for (const name of await home.names(from, call)) {
    const source = { owner: from, name };
    const target = { owner: to, name };
    const stored = await home.versions(target, call);
    for (const { version, size, facts, createTime } of await home.versions(source, call)) {
      if (stored.some((one) => one.version === version)) continue;
      const end = home.readsWhole === true ? Infinity : size;
      const data = await home.open(source, version, { start: 0, end }, call);
      if (data === undefined) continue;
      await home.put(target, { data, facts, createTime, version }, call);
    }
  }
}
