import { TabLock } from '../../core/watch/tab_lock.js';
import { isSessionError } from '../../values/errors/errors.js';
import type { ArtifactUsage, ArtifactUsageRequest } from '../../values/model/artifact.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type {
  LocalKey,
  LocalRange,
  LocalStore,
  LocalTransaction,
} from '../cache/local_store/local_store.js';
import type {
  ArtifactHome,
  ByteRange,
  ErasedOwner,
  ErasureNote,
  ErasureNotes,
  FileVersion,
  NewFile,
  SeparateFiles,
} from './artifact_home.js';
import type { FileOwner, FilePlace } from './artifact_names.js';
import { blobOf, CHUNK_BYTES, chunksOf } from './file_bytes.js';
import { decidePut, factsOfSize } from './file_versions.js';

/** The object stores: what is known of each version, the bytes, and the notes of what is being erased. */
export const FILE_STORES = ['files', 'bytes', 'notes'] as const;

type FileStore = (typeof FILE_STORES)[number];
type Transaction = LocalTransaction<FileStore>;

/** A record of `files`. */
interface FileRecord extends FileVersion {
  readonly owner: FileOwner;
  readonly name: string;
  /** The number of the session of the file. Absent in the files of a fork: they are copied before its session exists. */
  readonly created: number | undefined;
  /** When the record was stored, by the clock of the device. Imports and copies keep an earlier `createTime`. */
  readonly storedAt: number;
  /** Whether it is the tombstone of a deleted file: its last version, without bytes. */
  readonly isDeleted: boolean;
  /** The number of chunks that `bytes` has of the version. 0: `bytes` has one Blob. */
  readonly chunks: number;
}

/**
 * Keeps files in memory or in IndexedDB. A version is one record and one Blob. One transaction stores both, so a program
 * that ends early leaves neither. A browser keeps a Blob on the disk and not in memory. WebKit's private windows refuse
 * Blobs: there the bytes are stored as chunks.
 */
export class LocalHome implements ArtifactHome, SeparateFiles {
  readonly separate = this;
  readonly notes: ErasureNotes | undefined;
  readonly #local: LocalStore<FileStore>;
  #takesBlobs: Promise<boolean> | undefined;

  /** @param database its name, if the files outlive the program */
  constructor(local: LocalStore<FileStore>, database: string | undefined) {
    this.#local = local;
    this.notes = database === undefined ? undefined : new LocalNotes(local, database);
  }

  async put(place: FilePlace, { data, ...file }: NewFile): Promise<FileVersion> {
    // A transaction of IndexedDB does not wait for a stream. Of a given Blob, memory and private windows keep a reference.
    const blob = await blobOf(data, place.name);
    this.#takesBlobs ??= this.notes === undefined ? Promise.resolve(true) : this.#probe();
    if (await this.#takesBlobs) return this.#store(place, file, [blob], 0);
    const chunks = [];
    for await (const chunk of chunksOf(blob, place.name)) chunks.push(chunk.buffer);
    return this.#store(place, file, chunks, chunks.length);
  }

  /**
   * Finds out whether the browser stores Blobs, by a transaction of its own. WebKit never ends a transaction with a Blob
   * that it refuses: the other requests of that transaction would get no answer.
   */
  async #probe(): Promise<boolean> {
    const probe = (work: (transaction: Transaction) => Promise<void>): Promise<void> =>
      this.#local.transaction('readwrite', work);
    try {
      await probe((transaction) => transaction.put('bytes', PROBE, new Blob(['probe'])));
    } catch (error) {
      if (refusesBlobs(error)) return false;
      this.#takesBlobs = undefined;
      throw error;
    }
    await probe((transaction) => transaction.delete('bytes', PROBE));
    return true;
  }

  #store(
    place: FilePlace,
    file: Omit<NewFile, 'data'>,
    bytes: readonly (Blob | ArrayBuffer)[],
    chunks: number,
  ): Promise<FileVersion> {
    const { owner, name } = place;
    return this.#local.transaction('readwrite', async (transaction) => {
      const { version, stored } = decidePut(await recordsOf(transaction, place), file);
      if (stored !== undefined) return stored;
      const { createTime, created } = file;
      const sizes = bytes.map((part) => (part instanceof Blob ? part.size : part.byteLength));
      const size = sizes.reduce((sum, length) => sum + length, 0);
      const facts = factsOfSize(file, size);
      const record: FileRecord = {
        owner,
        name,
        version,
        facts,
        size,
        createTime,
        created,
        chunks,
        storedAt: Date.now(),
        isDeleted: false,
      };
      await putFile(transaction, record, bytes);
      return record;
    });
  }

  async versions(place: FilePlace): Promise<readonly FileVersion[]> {
    const records = await this.#read((transaction) => recordsOf(transaction, place));
    return records.filter(({ isDeleted }) => !isDeleted);
  }

  async names(owner: FileOwner): Promise<readonly string[]> {
    const records = await this.#read((transaction) => list(transaction, rangeOf(keyOf(owner))));
    const shown = records.filter(({ isDeleted }) => !isDeleted);
    return [...new Set(shown.map(({ name }) => name))];
  }

  open(place: FilePlace, version: number, { start, end }: ByteRange): Promise<Blob | undefined> {
    return this.#read(async (transaction) => {
      const key = [...keyOf(place.owner), place.name, version];
      const record = (await transaction.get('files', key)) as FileRecord | undefined;
      if (record === undefined || record.isDeleted) return undefined;
      const first = record.chunks === 0 ? 0 : Math.floor(start / CHUNK_BYTES);
      const last = record.chunks === 0 ? 1 : Math.ceil(end / CHUNK_BYTES);
      const parts = { from: [...key, first], to: [...key, last] };
      const bytes = (await transaction.list('bytes', parts)) as (Blob | ArrayBuffer)[];
      const offset = first * CHUNK_BYTES;
      const { mimeType } = record.facts;
      // A range of one Blob is not read here. Of chunks, a copy is made.
      const whole = bytes[0] instanceof Blob ? bytes[0] : new Blob(bytes);
      return whole.slice(start - offset, end - offset, mimeType);
    });
  }

  delete(place: FilePlace): Promise<void> {
    return this.#local.transaction('readwrite', async (transaction) => {
      const records = await recordsOf(transaction, place);
      for (const record of records) await removeFile(transaction, record);
      const last = records.at(-1);
      if (last === undefined) return;
      const tombstone = { ...last, facts: {}, size: 0, isDeleted: true, chunks: 0 };
      await putFile(transaction, tombstone, []);
    });
  }

  takeBack(place: FilePlace, version: number, created: number): Promise<void> {
    return this.#local.transaction('readwrite', async (transaction) => {
      const records = await recordsOf(transaction, place);
      const record = records.find(
        (one) => one.version === version && Object.is(one.created, created),
      );
      if (record !== undefined) await removeFile(transaction, record);
    });
  }

  async usage(request: ArtifactUsageRequest): Promise<ArtifactUsage> {
    const records = await this.#read((transaction) => list(transaction, rangeIn(request)));
    const shown = records.filter(({ isDeleted }) => !isDeleted);
    const bytes = shown.reduce((sum, { size }) => sum + size, 0);
    return { versions: shown.length, bytes };
  }

  erase(owner: ErasedOwner): Promise<void> {
    return this.#local.transaction('readwrite', async (transaction) => {
      for (const record of await list(transaction, rangeIn(owner))) {
        if (isErasedWith(owner, record)) await removeFile(transaction, record);
      }
    });
  }

  copy(from: CompositeSessionKey, to: CompositeSessionKey): Promise<void> {
    return this.#local.transaction('readwrite', async (transaction) => {
      for (const record of await list(transaction, rangeOf(keyOf(from)))) {
        const copied = { ...record, owner: to, created: undefined, storedAt: Date.now() };
        if ((await transaction.get('files', fileKey(copied))) !== undefined) continue;
        const bytes = await transaction.list('bytes', rangeOf(fileKey(record)));
        await putFile(transaction, copied, bytes as (Blob | ArrayBuffer)[]);
      }
    });
  }

  async close(): Promise<void> {
    await this.#local.close();
  }

  #read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#local.transaction('readonly', work);
  }
}

/** Keeps notes. The program that has written one holds a lock while it is under way. */
class LocalNotes implements ErasureNotes {
  readonly #local: LocalStore<FileStore>;
  readonly #database: string;
  /** The ids of the notes of this program that are under way: without Web Locks, no lock tells. */
  readonly #underWay = new Set<string>();

  constructor(local: LocalStore<FileStore>, database: string) {
    this.#local = local;
    this.#database = database;
  }

  #lockOf({ id }: ErasureNote): TabLock {
    return new TabLock(`adk-session-wasm:erasure:${this.#database}:${id}`);
  }

  during<T>(note: ErasureNote, work: () => Promise<T>): Promise<T> {
    return this.#lockOf(note).holdOrProceed(async () => {
      this.#underWay.add(note.id);
      try {
        await this.#local.transaction('readwrite', (transaction) =>
          transaction.put('notes', [note.id], note),
        );
        const result = await work();
        await this.delete(note);
        return result;
      } finally {
        this.#underWay.delete(note.id);
      }
    });
  }

  async abandoned(): Promise<readonly ErasureNote[]> {
    const all = { from: [''], to: ['\uffff'] };
    const notes = (await this.#local.transaction('readonly', (transaction) =>
      transaction.list('notes', all),
    )) as ErasureNote[];
    const areHeld = await Promise.all(notes.map((note) => this.#lockOf(note).isHeld()));
    return notes.filter(({ id }, index) => areHeld[index] !== true && !this.#underWay.has(id));
  }

  async delete({ id }: ErasureNote): Promise<void> {
    await this.#local.transaction('readwrite', (transaction) => transaction.delete('notes', [id]));
  }
}

/** No file has this key. */
const PROBE: LocalKey = ['probe'];

/** Stores a record with its bytes. */
async function putFile(
  transaction: Transaction,
  record: FileRecord,
  bytes: readonly (Blob | ArrayBuffer)[],
): Promise<void> {
  const key = fileKey(record);
  await transaction.put('files', key, record);
  for (const [index, part] of bytes.entries()) {
    await transaction.put('bytes', [...key, index], part);
  }
}

async function removeFile(transaction: Transaction, record: FileRecord): Promise<void> {
  const key = fileKey(record);
  await transaction.delete('files', key);
  const { from, to } = rangeOf(key);
  await transaction.delete('bytes', from, to);
}

async function list(transaction: Transaction, range: LocalRange): Promise<FileRecord[]> {
  return (await transaction.list('files', range)) as FileRecord[];
}

/** Returns the versions of a file in order, its tombstone included. */
function recordsOf(transaction: Transaction, { owner, name }: FilePlace): Promise<FileRecord[]> {
  return list(transaction, rangeOf([...keyOf(owner), name]));
}

/** The files of a user have an empty session, which no session has for an id. */
function keyOf({ appName, userId, sessionId = '' }: FileOwner): LocalKey {
  return [appName, userId, sessionId];
}

function fileKey({ owner, name, version }: FileRecord): LocalKey {
  return [...keyOf(owner), name, version];
}

/** Whether a record in the range of an owner is erased with it. */
function isErasedWith(
  { sessionId, created, before = Infinity }: ErasedOwner,
  record: FileRecord,
): boolean {
  // Of a session, the number is the better witness: a clock may be set back.
  return sessionId === undefined || created === undefined || record.created === undefined
    ? record.storedAt <= before
    : record.created === created;
}

/** Returns the range of a session, or of a user and all its sessions. */
function rangeIn({ appName, userId, sessionId }: ErasedOwner): LocalRange {
  return rangeOf(sessionId === undefined ? [appName, userId] : [appName, userId, sessionId]);
}

/** Returns the range of all keys that begin with this one. */
function rangeOf(start: LocalKey): LocalRange {
  const last = start.at(-1)!;
  // No text and no number is between the last member and this one.
  const next = typeof last === 'number' ? last + 1 : `${last}\0`;
  return { from: start, to: [...start.slice(0, -1), next] };
}

/** Whether the browser does not store Blobs, as WebKit in a private window. */
function refusesBlobs(error: unknown): boolean {
  if (!isSessionError(error, 'storage_failed')) return false;
  const { name } = Object(error.cause) as { readonly name?: unknown };
  return name === 'UnknownError' || name === 'DataCloneError';
}
