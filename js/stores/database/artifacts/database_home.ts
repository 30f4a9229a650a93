/**
 * Files in a database, beside the sessions. The tables of google-adk have a row for each session. Ours have a foreign key
 * to it, so whoever deletes a session deletes its files, Python too. Files of a user have none: only `deleteUser` of this
 * package deletes them.
 */
import type { HostBlob } from '../../../values/model/host.js';
import type { StorageCall } from '../../../values/model/diagnostic.js';
import { sessionNotFound } from '../../../values/errors/invalid.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { ArtifactUsage, ArtifactUsageRequest } from '../../../values/model/artifact.js';
import type { Abortable } from '../../../values/model/session.js';
import type {
  ArtifactHome,
  ByteRange,
  FileFacts,
  FileVersion,
  NewFile,
} from '../../artifacts/artifact_home.js';
import type { Decide, StorageWriteRequest } from '../../../core/storage/requests.js';
import type { FileOwner, FilePlace } from '../../artifacts/artifact_names.js';
import {
  CHUNK_BYTES,
  ChunkHash,
  chunksAgain,
  chunksOf,
  hashChunks,
  UNUSED_MS,
} from '../../artifacts/file_bytes.js';
import { isBlob } from '../../artifacts/given_files.js';
import { decidePut, factsOfSize } from '../../artifacts/file_versions.js';
import type { StoredTime } from '../engine/engine.js';
import { runOnce, type Steps, together } from '../engine/prepared.js';
import { currentRowsStatements } from '../statements/current_rows_statements.js';
import type { VerbContext } from '../statements/verb_context.js';
import { NO_FACTS, writeStatements } from '../statements/write_statements.js';
import { checkIds, fitsKey } from '../tables/limits.js';
import { write } from '../verbs/write.js';
import {
  type FileColumns,
  fileStatements,
  type OwnerKey,
  type SessionTime,
} from './file_statements.js';

/** A storage of a database, as far as files need it. */
export interface FileDatabase {
  /** Runs the steps in one transaction, which may be repeated. */
  transact<T>(
    mode: 'read' | 'write',
    steps: (context: VerbContext) => Steps<T>,
    call: StorageCall,
  ): T | Promise<T>;
}

type Chunks = ReturnType<typeof chunksOf>;

/** The bytes that were put, and the name that they have. */
interface PutContent {
  readonly content: string;
  readonly chunkBytes: number;
  readonly size: number;
  readonly chunks: number;
  readonly hash: string | undefined;
}

/** A version with the name of its bytes. */
interface StoredFile extends FileVersion {
  /** Absent: it is the tombstone of a deleted file. */
  readonly content: string | undefined;
  readonly chunkBytes: number;
  readonly isDeleted: boolean;
}

/** Keeps files in a database. */
export class DatabaseHome implements ArtifactHome {
  readonly readsIntoMemory = true;
  readonly #database: () => Promise<FileDatabase>;
  readonly #newId: () => string;
  /** The size of the chunks, once the database has told what it takes. */
  #chunkBytes: number | undefined;

  constructor(database: () => Promise<FileDatabase>, newId: () => string) {
    this.#database = database;
    this.#newId = newId;
  }

  async put(place: FilePlace, file: NewFile, call: Abortable): Promise<FileVersion> {
    const { data } = file;
    const { name } = place;
    const reading = isBlob(data) ? await hashChunks(data, name) : undefined;
    const hash = await reading?.end();
    // Other bytes must not get the name of these, under which they are shared.
    const read = (): Chunks =>
      isBlob(data) && reading !== undefined
        ? chunksAgain(data, name, reading)
        : chunksOf(data, name);
    this.#chunkBytes ??= await this.#read(call, chunkBytesOf);
    const chunkBytes = this.#chunkBytes;
    // Only bytes that can be read again are hashed before, and shared.
    const existing =
      hash === undefined ? undefined : await this.#find(place, file, { hash, chunkBytes }, call);
    if (existing !== undefined && 'version' in existing) return existing;
    const { sessionId } = place.owner;
    const isStream = !isBlob(data);
    const before = isStream && (await this.#sessionTime(place.owner, call));
    const put = existing ?? (await this.#putChunks(place, read(), { hash, chunkBytes }, call));
    const stored = await this.#write(call, (context) => store(context, place, file, put));
    if (stored !== undefined) return stored;
    if (isStream) {
      // It cannot be read again.
      const after = await this.#sessionTime(place.owner, call);
      if (sessionId !== undefined && after !== before) throw sessionNotFound(sessionId);
    } else {
      // What was to be shared has been deleted meanwhile.
      const again = await this.#putChunks(place, read(), { hash, chunkBytes }, call);
      const last = await this.#write(call, (context) => store(context, place, file, again));
      if (last !== undefined) return last;
    }
    const message =
      'The bytes of the file were deleted before it was stored: the put took more than a day.';
    throw new SessionError('storage_failed', message);
  }

  /** Finds the version of an earlier put with the id, or the content in any file of the owner. */
  #find(
    place: FilePlace,
    file: NewFile,
    { hash, chunkBytes }: Pick<PutContent, 'chunkBytes'> & { readonly hash: string },
    call: Abortable,
  ): Promise<StoredFile | PutContent | undefined> {
    const size = (file.data as Blob).size;
    return this.#write(call, function* (context): Steps<StoredFile | PutContent | undefined> {
      yield* requireOwner(context, place.owner);
      const { stored } = decidePut(yield* versionsOf(context, place), file);
      if (stored !== undefined) return stored;
      const content = contentOf(hash, chunkBytes);
      const key = { ...keyOf(place.owner), content };
      const [row] = yield* context.statements(fileStatements).chunks.run(key);
      const chunks = Math.ceil(size / chunkBytes);
      const isThere = Number(row?.count ?? 0) === chunks;
      return isThere ? { content, chunkBytes, size, chunks, hash } : undefined;
    });
  }

  /** Stores the bytes, each chunk in a transaction: others wait for one chunk at most. */
  async #putChunks(
    { owner }: FilePlace,
    read: Chunks,
    { hash, chunkBytes }: Pick<PutContent, 'hash' | 'chunkBytes'>,
    call: Abortable,
  ): Promise<PutContent> {
    const content = contentOf(hash ?? this.#newId(), chunkBytes);
    const digest = new ChunkHash();
    let [size, chunks] = [0, 0];
    for await (const chunk of read) {
      if (hash === undefined) await digest.add(chunk);
      for (let at = 0; at < chunk.length; at += chunkBytes) {
        const part = chunk.subarray(at, at + chunkBytes);
        const position = chunks;
        await this.#write(call, function* (context): Steps<void> {
          yield* requireOwner(context, owner);
          const session = owner.sessionId ?? null;
          const time = Math.floor(context.clock());
          const bytes = context.engine.queries.bytes(part);
          const row = { ...keyOf(owner), session, content, position, bytes, time };
          yield* together([context.statements(fileStatements).putChunk.of(row)], true);
        });
        chunks += 1;
      }
      size += chunk.length;
    }
    return { content, chunkBytes, size, chunks, hash: hash ?? (await digest.end()) };
  }

  /** Returns when the session of a file was created; `undefined` without one. */
  async #sessionTime(owner: FileOwner, call: Abortable): Promise<StoredTime | undefined> {
    const [row] = await this.#read(call, function* (context): Steps<readonly SessionTime[]> {
      if (owner.sessionId === undefined || !fits(context, owner)) return [];
      return yield* context.statements(fileStatements).sessionTime.run(keyOf(owner));
    });
    return row?.create_time;
  }

  async versions(place: FilePlace, call: Abortable): Promise<readonly FileVersion[]> {
    const versions = await this.#read(call, (context) => versionsOf(context, place));
    return versions.filter(({ isDeleted }) => !isDeleted);
  }

  async names(owner: FileOwner, call: Abortable): Promise<readonly string[]> {
    const rows = await this.#read(call, function* (context): Steps<readonly { name: string }[]> {
      if (!fits(context, owner)) return [];
      return yield* context.statements(fileStatements).names.run(keyOf(owner));
    });
    return rows.map(({ name }) => name);
  }

  async open(
    place: FilePlace,
    version: number,
    { start, end }: ByteRange,
    call: Abortable,
  ): Promise<HostBlob | undefined> {
    const versions = await this.#read(call, (context) => versionsOf(context, place));
    const stored = versions.find((one) => one.version === version);
    if (stored?.content === undefined) return undefined;
    const { content, chunkBytes, facts } = stored;
    const first = Math.floor(start / chunkBytes);
    const parts = [];
    for (let position = first; position * chunkBytes < end; position += 1) {
      const key = { ...keyOf(place.owner), content, position };
      const [row] = await this.#read(call, (context) =>
        context.statements(fileStatements).chunk.run(key),
      );
      if (row === undefined) return undefined;
      parts.push(new Blob([new Uint8Array(row.bytes)]));
    }
    const offset = first * chunkBytes;
    return new Blob(parts).slice(start - offset, end - offset, facts.mimeType);
  }

  delete(place: FilePlace, call: Abortable): Promise<void> {
    return this.#write(call, (context) => deleteFile(context, place));
  }

  async usage(
    { appName, userId, sessionId }: ArtifactUsageRequest,
    call: Abortable,
  ): Promise<ArtifactUsage> {
    const owner = { appName, userId, sessionId };
    const [row] = await this.#read(call, function* (context): Steps<
      readonly { versions: number | string; bytes: number | string | null }[]
    > {
      if (!fits(context, owner)) return [];
      const { usage } = context.statements(fileStatements);
      return yield* usage[sessionId === undefined ? 'user' : 'session'].run(keyOf(owner));
    });
    return { versions: Number(row?.versions ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  async #read<T>(call: Abortable, steps: (context: VerbContext) => Steps<T>): Promise<T> {
    return (await this.#database()).transact('read', steps, { signal: call.signal });
  }

  async #write<T>(call: Abortable, steps: (context: VerbContext) => Steps<T>): Promise<T> {
    return (await this.#database()).transact('write', steps, { signal: call.signal });
  }
}

/** The bytes of a statement with a chunk beside the chunk. */
const STATEMENT_BYTES = 4096;

/** Returns the size of chunks that the database takes: the usual one, or a half of it, a quarter and so on. */
function* chunkBytesOf(context: VerbContext): Steps<number> {
  const { packetBytes } = context.engine.queries;
  if (packetBytes === undefined) return CHUNK_BYTES;
  const [row] = yield* runOnce(context.database, packetBytes);
  let bytes = CHUNK_BYTES;
  // A driver may write bytes in hexadecimal.
  while (bytes > 1 && bytes * 2 + STATEMENT_BYTES > Number(row?.bytes ?? Infinity)) bytes /= 2;
  return bytes;
}

/** Names bytes in chunks. The same bytes in chunks of another size have another name. */
function contentOf(name: string, chunkBytes: number): string {
  return chunkBytes === CHUNK_BYTES ? name : `${name} in ${chunkBytes}`;
}

/**
 * Stores the version of a file whose chunks are there: reads, a decision, and one list of writes.
 *
 * @returns `undefined` if chunks are missing
 */
function* store(
  context: VerbContext,
  place: FilePlace,
  file: NewFile,
  { content, chunkBytes, size, chunks, hash }: PutContent,
): Steps<FileVersion | undefined> {
  const { owner, name } = place;
  const {
    insert,
    deleteTombstone,
    chunks: count,
    deleteUnused,
  } = context.statements(fileStatements);
  yield* requireOwner(context, owner);
  const versions = yield* versionsOf(context, place);
  const { version, stored } = decidePut(versions, file);
  if (stored !== undefined) return stored;
  const key = keyOf(owner);
  const [row] = yield* count.run({ ...key, content });
  if (Number(row?.count ?? 0) !== chunks) return undefined;
  const { createTime } = file;
  const facts = factsOfSize(file, size);
  const ofChunks = chunkBytes === CHUNK_BYTES ? {} : { chunkBytes };
  const text = JSON.stringify({ facts, hash, ...ofChunks } satisfies StoredFacts);
  const session = owner.sessionId ?? null;
  const time = Math.floor(createTime);
  const values = { ...key, session, name, version, content, size, facts: text, time };
  const before = Math.floor(context.clock()) - UNUSED_MS;
  // Only the tombstone of a deleted file still has the number.
  const isTaken = versions.some((one) => one.version === version);
  const tombstone = isTaken ? [deleteTombstone.of({ ...key, name, version })] : [];
  yield* together([...tombstone, insert.of(values), deleteUnused.of({ ...key, before })], true);
  return { version, facts, size, createTime: time, hash };
}

/** Creates a session, and copies the files of another one of its user in the same step. */
export function* createWithFiles(
  context: VerbContext,
  request: StorageWriteRequest,
  decide: Decide,
  filesOf: string,
): Steps<void> {
  const { appName, userId = '', sessionId: to = '' } = request.key;
  const { copy } = context.statements(fileStatements);
  const owner = { appName, userId, sessionId: filesOf };
  // A deletion of a file between the two copies would leave a version without bytes.
  yield* lockOwner(context, owner);
  const values = { ...keyOf(owner), to };
  const copies = [copy.files.of(values), copy.chunks.of(values)];
  yield* write(context, [{ request, decide }], true, undefined, copies);
}

/** Deletes a file. Its last version stays as a tombstone, so that its number is not given again. */
function* deleteFile(context: VerbContext, place: FilePlace): Steps<void> {
  const { owner, name } = place;
  if (!fits(context, owner)) return;
  const { insert, deleteAll, deleteUnusedContent } = context.statements(fileStatements);
  yield* lockOwner(context, owner);
  const versions = yield* versionsOf(context, place);
  const last = versions.at(-1);
  if (last === undefined || last.isDeleted) return;
  const key = keyOf(owner);
  const { version, createTime: time } = last;
  const session = owner.sessionId ?? null;
  const tombstone = { content: null, size: 0, facts: NO_FACTS };
  const contents = new Set(versions.flatMap(({ content }) => content ?? []));
  yield* together(
    [
      deleteAll.of({ ...key, name }),
      insert.of({ ...key, session, name, version, time, ...tombstone }),
      ...[...contents].map((content) => deleteUnusedContent.of({ ...key, content })),
    ],
    true,
  );
}

/** What the column `facts` has. */
interface StoredFacts {
  readonly facts: FileFacts;
  readonly hash?: string | undefined;
  /** Absent: the chunks have the usual size. */
  readonly chunkBytes?: number | undefined;
}

/** Returns the versions of a file in order, its tombstone included. */
function* versionsOf(context: VerbContext, { owner, name }: FilePlace): Steps<StoredFile[]> {
  if (!fits(context, owner)) return [];
  const { versions } = context.statements(fileStatements);
  return (yield* versions.run({ ...keyOf(owner), name })).map(storedFile);
}

function storedFile(row: FileColumns): StoredFile {
  const { facts, hash, chunkBytes = CHUNK_BYTES } = JSON.parse(row.facts) as StoredFacts;
  return {
    version: row.version,
    facts,
    hash,
    size: Number(row.size),
    createTime: Number(row.create_time),
    content: row.content ?? undefined,
    chunkBytes,
    isDeleted: row.content === null,
  };
}

/** Locks the owner of a file, and requires that its session exists. @throws SessionError `not_found` */
function* requireOwner(context: VerbContext, owner: FileOwner): Steps<void> {
  const { appName, userId, sessionId = '' } = owner;
  checkIds(context.engine, { key: { appName, userId, sessionId }, eventIds: [] });
  const isThere = yield* lockOwner(context, owner);
  if (!isThere) throw sessionNotFound(sessionId);
}

/**
 * Locks the owner of a file on servers, so that puts and deletions wait for each other. Elsewhere there is one writer, or
 * what was read has guards.
 *
 * @returns whether the owner is there. A user always is
 */
function* lockOwner(
  { engine, statements }: VerbContext,
  { appName: app, userId: user, sessionId: session }: FileOwner,
): Steps<boolean> {
  if (session === undefined) {
    const { lockFilesOfUser } = statements(writeStatements);
    if (engine.transactions.locksByInsert) yield* together([lockFilesOfUser.of({ app, user })]);
    return true;
  }
  const { locks } = statements(currentRowsStatements);
  const [row] = yield* locks.session.one.run({ app, user, session });
  return row !== undefined;
}

function fits({ engine }: VerbContext, { appName, userId, sessionId }: FileOwner): boolean {
  return fitsKey(engine, { appName, userId, ...(sessionId !== undefined && { sessionId }) });
}

function keyOf({ appName, userId, sessionId }: FileOwner): OwnerKey {
  return { app: appName, user: userId, owner: sessionId ?? '' };
}
