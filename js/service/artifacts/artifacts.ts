/** The methods of artifact services over a home. The first call of `service.artifacts` loads this file. */
import { afterCommit, type Call } from '../../core/call/call.js';
import type { Calls } from '../../core/call/calls.js';
import type { SessionHead } from '../../core/read.js';
import type { ReadList } from '../../core/storage/store.js';
import type { DeleteWrite, ReadyWrite, WriteKind } from '../../core/write.js';
import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import { optionalCount } from '../../values/errors/option_values.js';
import { browserType } from '../../values/model/values/media_type.js';
import type {
  ArtifactMethod,
  ArtifactRequest,
  ArtifactUsage,
  ArtifactUsageRequest,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
  SaveArtifactRequest,
} from '../../values/model/artifact.js';
import type { HostBlob } from '../../values/model/host.js';
import type { Part } from '../../values/model/event/content.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { requireId, requireKey, requireUser } from '../../values/model/values/ids.js';
import type {
  ArtifactHome,
  ByteRange,
  ErasedOwner,
  ErasureNote,
  ErasureNotes,
  FileVersion,
  NewFile,
  SeparateFiles,
  SessionWitness,
} from '../../stores/artifacts/artifact_home.js';
import {
  type FileOwner,
  filenameOf,
  type FilePlace,
  placeOf,
} from '../../stores/artifacts/artifact_names.js';
import { dataOf } from '../../stores/artifacts/given_files.js';
import {
  decidePut,
  isRewoundAway,
  partOf,
  takeFacts,
  takePart,
  takePut,
  toArtifactVersion,
} from '../../stores/artifacts/file_versions.js';
import type { ReaderParts } from '../read/reader_parts.js';

/** The core of a service, as far as its files need it. */
export interface FiledCore extends Pick<ReaderParts, 'callStore'> {
  readonly calls: Calls;
  readonly clock: () => number;
  readonly newId: () => string;
}

/** The methods of an artifact service. Requests are copies of the caller's. */
export type ArtifactMethods = Record<
  ArtifactMethod,
  (request: never, call: Call) => Promise<unknown>
>;

/** Files over a home. */
export class Artifacts implements ArtifactMethods {
  readonly home: ArtifactHome;
  readonly #core: FiledCore;
  #recovering: Promise<void> | undefined;
  /** Erasures that `eraseNow` has started and that have not succeeded. */
  readonly #unerased = new Map<ErasedOwner, Promise<void>>();

  constructor(home: ArtifactHome, core: FiledCore) {
    this.home = home;
    this.#core = core;
  }

  async saveArtifact(request: SaveArtifactRequest, call: Call): Promise<number> {
    const { artifact, customMetadata, author, id } = request;
    const place = placeOf(request);
    const { data, facts } = takePart(artifact);
    const added = takeFacts({ customMetadata, author, id });
    const file = { data, facts: { ...added, ...facts }, createTime: this.#core.clock() };
    return (await this.#store(place, file, call)).version;
  }

  async put(request: PutArtifactRequest, call: Call): Promise<ArtifactVersion> {
    const place = placeOf(request);
    const data = dataOf(request.data);
    const file = { data, ...takePut(request, data), createTime: this.#core.clock() };
    return toArtifactVersion(await this.#store(place, file, call));
  }

  /** Returns all versions of the files of a session or a user. */
  async stored(
    owner: FileOwner,
    call: Call,
  ): Promise<{ readonly place: FilePlace; readonly stored: FileVersion }[]> {
    await this.#recovered();
    const names = [...(await this.home.names(owner, call))].sort();
    const places = names.map((name) => ({ owner, name }));
    const all = places.map(async (place) =>
      (await this.home.versions(place, call)).map((stored) => ({ place, stored })),
    );
    return (await Promise.all(all)).flat();
  }

  /** Stores a version of another service under its number. One that is there stays. */
  restore(request: ArtifactRequest, file: NewFile, call: Call): Promise<FileVersion> {
    return this.#store(placeOf(request), { ...file, facts: takeFacts(file.facts) }, call);
  }

  /**
   * A session may be deleted while its file is stored: after the files were erased, nobody would erase this one. So the
   * file is taken back if its session is not the one that it was.
   */
  async #store(place: FilePlace, file: NewFile, call: Call): Promise<FileVersion> {
    const { appName, userId, sessionId } = place.owner;
    const { separate } = this.home;
    await this.#recovered();
    if (sessionId === undefined || separate === undefined) {
      return this.#put(place, file, call);
    }
    const key = { appName, userId, sessionId };
    const before = await this.#createdOf(key, call);
    if (before === undefined) throw sessionNotFound(sessionId);
    const stored = await this.#put(place, { ...file, created: before }, call);
    const after = afterCommit(call);
    if (Object.is(await this.#createdOf(key, after), before)) return stored;
    await separate.takeBack?.(place, stored.version, before);
    throw sessionNotFound(sessionId);
  }

  /** Stores a version. A repetition reads no bytes: they may come slowly, and may be refused by now. */
  async #put(place: FilePlace, file: NewFile, call: Call): Promise<FileVersion> {
    const mayBeStored = file.facts.id !== undefined || file.version !== undefined;
    const versions = mayBeStored ? await this.home.versions(place, call) : [];
    return decidePut(versions, file).stored ?? this.home.put(place, file, call);
  }

  async loadArtifact(request: ArtifactVersionRequest, call: Call): Promise<Part | undefined> {
    const opened = await this.#openVersion(request, { start: 0, end: Infinity }, call);
    if (opened === undefined) return undefined;
    const { place, stored, blob } = opened;
    return this.read(place, stored.version, call, () => partOf(stored, blob));
  }

  /**
   * Reads bytes that the home has opened. A folder reads them only now.
   *
   * @returns `undefined` if the version is gone by now
   * @throws SessionError `storage_failed` if the bytes cannot be read
   */
  async read<T>(
    place: FilePlace,
    version: number,
    call: Call,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      const versions = await this.home.versions(place, call);
      if (versions.every((one) => one.version !== version)) return undefined;
      if (isSessionError(cause)) throw cause;
      const message = `The bytes of the file ${JSON.stringify(place.name)} cannot be read: ${messageOf(cause)}`;
      throw new SessionError('storage_failed', message, { cause });
    }
  }

  async open(request: OpenArtifactRequest, call: Call): Promise<HostBlob | undefined> {
    const start = optionalCount('start', request.start) ?? 0;
    const end = optionalCount('end', request.end) ?? Infinity;
    const { blob, stored } = (await this.#openVersion(request, { start, end }, call)) ?? {};
    // A text that was saved as a part has no type.
    const mimeType = stored?.facts.mimeType ?? (blob?.type === '' ? 'text/plain' : blob?.type);
    return blob?.slice(0, blob.size, browserType(mimeType));
  }

  /** Opens a range of a version, cut at its end. Returns `undefined` also if google-adk has rewound the file away. */
  async #openVersion(
    request: ArtifactVersionRequest,
    { start, end }: ByteRange,
    call: Call,
  ): Promise<OpenedVersion | undefined> {
    const { place, stored } = await this.#find(request, call);
    if (stored === undefined) return undefined;
    const { version, facts, size } = stored;
    // A given service may not tell the size: only the bytes tell whether there are some.
    const { readsWhole = false } = this.home;
    const last = Math.min(end, size);
    const range = readsWhole ? WHOLE : { start: Math.min(start, last), end: last };
    const blob = await this.home.open(place, version, range, call);
    if (blob === undefined) return undefined;
    const wholeSize = readsWhole ? blob.size : size;
    if (isRewoundAway(facts.mimeType ?? blob.type, wholeSize)) return undefined;
    return { place, stored, blob: readsWhole ? blob.slice(start, end, blob.type) : blob };
  }

  async listArtifactKeys(request: CompositeSessionKey, call: Call): Promise<string[]> {
    requireKey(request);
    const { appName, userId, sessionId } = request;
    await this.#recovered();
    const owners = [sessionId, undefined].map((sessionId) => ({ appName, userId, sessionId }));
    const names = owners.map(async (owner) =>
      (await this.home.names(owner, call)).map((name) => filenameOf(owner, name)),
    );
    return (await Promise.all(names)).flat().sort();
  }

  async deleteArtifact(request: ArtifactRequest, call: Call): Promise<void> {
    const place = placeOf(request);
    await this.#recovered();
    await this.home.delete(place, call);
  }

  async listVersions(request: ArtifactRequest, call: Call): Promise<number[]> {
    return (await this.#versions(request, call)).map(({ version }) => version);
  }

  async listArtifactVersions(request: ArtifactRequest, call: Call): Promise<ArtifactVersion[]> {
    return (await this.#versions(request, call)).map(toArtifactVersion);
  }

  async getArtifactVersion(
    request: ArtifactVersionRequest,
    call: Call,
  ): Promise<ArtifactVersion | undefined> {
    const { stored } = await this.#find(request, call);
    return stored && toArtifactVersion(stored);
  }

  async usage(request: ArtifactUsageRequest, call: Call): Promise<ArtifactUsage> {
    const { appName, userId, sessionId } = request;
    requireUser(request);
    if (sessionId !== undefined) requireId('sessionId', sessionId);
    await this.#recovered();
    return this.home.usage({ appName, userId, sessionId }, call);
  }

  async #versions(request: ArtifactRequest, call: Call): Promise<readonly FileVersion[]> {
    const place = placeOf(request);
    await this.#recovered();
    return this.home.versions(place, call);
  }

  async #find(
    request: ArtifactVersionRequest,
    call: Call,
  ): Promise<{ readonly place: FilePlace; readonly stored: FileVersion | undefined }> {
    const place = placeOf(request);
    const { version } = request;
    const versions = await this.#versions(request, call);
    const isMeant = (one: FileVersion): boolean => version === undefined || one.version === version;
    return { place, stored: versions.findLast(isMeant) };
  }

  /** Stores a write by `work`. A deletion erases files, and a fork copies them. */
  during<T>(write: ReadyWrite<WriteKind>, call: Call, work: () => Promise<T>): Promise<T> {
    if (write.kind === 'delete') return this.#deleteWith(write, call, work);
    if (write.kind !== 'fork') return work();
    const { key, newSessionId: sessionId } = write;
    return this.#forkWith(key, { ...key, sessionId }, call, work);
  }

  async #deleteWith<T>(write: DeleteWrite, call: Call, work: () => Promise<T>): Promise<T> {
    const isOfSessions = write.what === 'session' || write.what === 'user';
    const { separate } = this.home;
    if (separate === undefined || !isOfSessions) return work();
    await this.#recovered();
    await separate.requireErasable?.(write.key);
    // As the home, it asks the device: the clock of the service may be the caller's.
    const before = Date.now();
    const witness = await this.#witnessOf(write, call);
    if (write.what === 'session' && witness === undefined) {
      const result = await work();
      // An earlier deletion may have failed after it had deleted the session. A note would tell.
      if (separate.notes === undefined) {
        await this.#eraseUnowned({ ...write.key, before }, separate, afterCommit(call));
      }
      return result;
    }
    const owner = { ...write.key, created: witness?.created, before };
    const note = { id: this.#core.newId(), owner, reason: 'deletion', witness } as const;
    const erased = async (): Promise<{ readonly result: T } | { readonly error: unknown }> => {
      let result: T;
      try {
        result = await work();
      } catch (error) {
        if (witness !== undefined) throw error;
        // Without a session, nobody can tell whether the deletion was stored. So nothing is erased, and a repeated call
        // erases.
        return { error };
      }
      if (!isUndone(result)) await separate.erase(owner);
      return { result };
    };
    const isNoted = separate.notes !== undefined && (await this.#hasFiles(write, call));
    const outcome = await this.#noted(note, separate, erased, isNoted ? separate.notes : undefined);
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  /** Erases files of a session that is not there. */
  async #eraseUnowned(
    owner: ErasedOwner & CompositeSessionKey,
    separate: SeparateFiles,
    call: Call,
  ): Promise<void> {
    const { appName, userId, sessionId } = owner;
    const created = await this.#createdOf({ appName, userId, sessionId }, call);
    if (created === undefined) await separate.erase(owner);
  }

  /**
   * Runs a deletion or a fork. If it fails, its outcome is unknown: the session decides whether the files are erased.
   *
   * @param notes stores the note while `work` runs; absent: no note
   */
  async #noted<T>(
    note: ErasureNote,
    separate: SeparateFiles,
    work: () => Promise<T>,
    notes: ErasureNotes | undefined,
  ): Promise<T> {
    const finished = async (): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        // The caller gets the first error. If this fails too, the note stays.
        await this.#finish(note, separate).catch(() => undefined);
        throw error;
      }
    };
    if (notes === undefined) return finished();
    try {
      return await notes.during(note, finished);
    } catch (error) {
      // The next call finishes the note.
      this.#recovering = undefined;
      throw error;
    }
  }

  /** Whether a deletion needs a note, which costs two transactions. */
  async #hasFiles({ what, key }: DeleteWrite, call: Call): Promise<boolean> {
    return what !== 'session' || (await this.home.names(key, call)).length > 0;
  }

  async #witnessOf(write: DeleteWrite, call: Call): Promise<SessionWitness | undefined> {
    if (write.what === 'user') return this.#anyOf(write.key, call);
    if (write.what !== 'session') return undefined;
    const { key } = write;
    const created = await this.#createdOf(key, call);
    return created === undefined ? undefined : { key, created };
  }

  /** Makes a fork by `work`. The files are there before it shows, and erased if it is not created. */
  async #forkWith<T>(
    from: CompositeSessionKey,
    to: CompositeSessionKey,
    call: Call,
    work: () => Promise<T>,
  ): Promise<T> {
    const { separate } = this.home;
    if (separate === undefined) return work();
    await this.#recovered();
    // It is the fork that an earlier call has made, or another session, whose files it does not get.
    if ((await this.#createdOf(to, call)) !== undefined) return work();
    const note = { id: this.#core.newId(), owner: to, reason: 'fork' } as const;
    const copied = async (): Promise<T> => {
      await separate.copy(from, to, call);
      return work();
    };
    return this.#noted(note, separate, copied, separate.notes);
  }

  /** Begins to erase: memory has done it when this returns. The next call waits, and tries again after a failure. */
  eraseNow(owner: ErasedOwner): void {
    const erasing = this.home.separate?.erase(owner);
    if (erasing === undefined) return;
    this.#unerased.set(owner, erasing);
    erasing.then(
      () => this.#unerased.delete(owner),
      () => undefined, // for the next call
    );
  }

  async #eraseAgain(separate: SeparateFiles): Promise<void> {
    for (const [owner, erasing] of this.#unerased) {
      await erasing.catch(() => separate.erase(owner));
      this.#unerased.delete(owner);
    }
  }

  /** Erases what an interrupted program or a failed call has left. Runs once; runs again after a failure. */
  #recovered(): Promise<void> {
    const { separate } = this.home;
    if (separate === undefined) return Promise.resolve();
    if (separate.notes === undefined) return this.#eraseAgain(separate);
    return (this.#recovering ??= this.#recover(separate, separate.notes).catch((error: unknown) => {
      this.#recovering = undefined;
      throw error;
    }));
  }

  async #recover(separate: SeparateFiles, notes: ErasureNotes): Promise<void> {
    for (const note of await notes.abandoned()) {
      await this.#finish(note, separate);
      await notes.delete(note);
    }
  }

  async #finish({ owner, reason, witness }: ErasureNote, separate: SeparateFiles): Promise<void> {
    if (reason === 'fork') {
      const { appName, userId, sessionId } = owner;
      const created = await this.#createdOf({ appName, userId, sessionId: sessionId! }, {});
      if (created !== undefined) return;
    } else if (witness !== undefined) {
      const created = await this.#createdOf(witness.key, {});
      // Some storages number no sessions.
      if (created === witness.created || Number.isNaN(created)) return;
    }
    await separate.erase(owner);
  }

  /** Returns the number of a session, which no other session with its id has; `undefined` if there is none. */
  async #createdOf(key: CompositeSessionKey, call: Call): Promise<number | undefined> {
    const head = { kind: 'window', key, last: 0 } as const;
    const read = await this.#core.callStore<SessionHead | undefined>(call, (store) =>
      store.read(head, call),
    );
    return read?.created;
  }

  /** Returns any session of a user, if it has one. */
  async #anyOf({ appName, userId }: ErasedOwner, call: Call): Promise<SessionWitness | undefined> {
    const page = { offset: 0, limit: 1, withTotal: false } as const;
    const list = { appName, userId, order: 'asc', orderBy: 'createTime', ...page } as const;
    const { sessions } = await this.#core.callStore<ReadList>(call, (store) =>
      store.list(list, call),
    );
    const [first] = sessions;
    if (first === undefined) return undefined;
    const { sessionId, created } = first;
    return { key: { appName, userId, sessionId }, created };
  }

  async close(): Promise<void> {
    await this.home.close?.();
  }
}

/** A version whose bytes can be read. */
interface OpenedVersion {
  readonly place: FilePlace;
  readonly stored: FileVersion;
  readonly blob: Blob;
}

/** The range of a whole file, for a home that reads it whole. */
const WHOLE: ByteRange = { start: 0, end: Infinity };

/** Whether a deletion has deleted nothing, because the session had changed. */
function isUndone(result: unknown): boolean {
  return (result as { readonly isDeleted?: boolean } | undefined)?.isDeleted === false;
}
