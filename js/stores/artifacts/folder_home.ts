/**
 * Files in a folder, in the tree of google-adk's `FileArtifactService` (2.13), which may use the folder at the same time:
 *
 * `ROOT/apps/APP/users/USER[/sessions/SESSION]/artifacts/NAME/versions/VERSION/{last part of NAME, metadata.json}`
 *
 * The bytes are written into `ROOT/.puts`. Once they are there, `versions/.VERSION.pending` is created, which reserves
 * the number, gets them, and is renamed. So readers find a version whole or not at all. Like there, the numbers of a deleted
 * file are given again, and a number that a killed program has reserved stays free. Bytes that a killed program has left go
 * with a put after a day. A program that ends while it deletes a session may leave the session's files. The path in the
 * metadata, `canonicalUri`, is for others: it is never opened.
 */
import { KeyedQueue } from '../../core/call/scheduling.js';
import { invalidValue } from '../../values/errors/invalid.js';
import type { ArtifactUsage, ArtifactUsageRequest } from '../../values/model/artifact.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import {
  type ArtifactHome,
  type ByteRange,
  copyFiles,
  type ErasedOwner,
  type FileVersion,
  type NewFile,
  type SeparateFiles,
} from './artifact_home.js';
import { type FileOwner, filenameOf, type FilePlace, isFileName } from './artifact_names.js';
import { ChunkHash, chunksOf, UNUSED_MS } from './file_bytes.js';
import { decidePut } from './file_versions.js';
import { codeOf, listed, type Node, nodeModules, withErrors } from './node_files.js';
import { ownFactsOf, withOwnFacts } from './own_facts.js';

type FileSystem = typeof import('node:fs/promises');

const PUTS = '.puts';
const VERSIONS = 'versions';
const METADATA = 'metadata.json';
const RESERVED = ['apps', 'users', 'sessions', 'artifacts', 'versions'];

/** Keeps files in a folder. */
export class FolderHome implements ArtifactHome, SeparateFiles {
  readonly separate = this;
  readonly #root: string;
  readonly #node: Node;
  /** Puts into one file whose bytes are there wait for each other, so that an id is not stored twice. */
  readonly #puts = new KeyedQueue<string>();

  constructor(folder: string) {
    this.#node = nodeModules();
    this.#root = this.#node.path.resolve(folder);
  }

  async put(place: FilePlace, file: NewFile): Promise<FileVersion> {
    const folder = this.#folderOf(place);
    if (folder === undefined) throw invalidValue('The key', UNFIT, place.owner);
    const { fs, path } = this.#node;
    return withErrors(async () => {
      const puts = path.join(this.#root, PUTS);
      await fs.mkdir(puts, { recursive: true });
      await this.#removeOldPuts(puts);
      const staged = await fs.mkdtemp(path.join(puts, 'put-'));
      try {
        const bytes = await writeChunks(fs, path.join(staged, path.basename(folder)), file.data);
        return await this.#puts.run(folder, () => this.#publish(place, file, { staged, ...bytes }));
      } finally {
        await fs.rm(staged, { recursive: true, force: true });
      }
    });
  }

  /** Removes what killed programs have left. */
  async #removeOldPuts(puts: string): Promise<void> {
    const { fs, path } = this.#node;
    for (const name of await listed(fs.readdir(puts))) {
      const staged = path.join(puts, name);
      // Another put may be removing it.
      const folder = await fs.stat(staged).catch(() => undefined);
      if (folder === undefined || Date.now() - folder.mtimeMs < UNUSED_MS) continue;
      // That of another user of the system stays.
      await fs.rm(staged, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Makes a version of bytes that are there. */
  async #publish(
    place: FilePlace,
    file: Omit<NewFile, 'data'>,
    { staged, size, hash }: StagedBytes,
  ): Promise<FileVersion> {
    const { fs, path, url } = this.#node;
    const folder = this.#folderOf(place)!;
    const decision = decidePut(await this.#versions(folder), file);
    if (decision.stored !== undefined) return decision.stored;
    const { version, pending } = await this.#reserve(folder, decision.version);
    const published = path.join(folder, VERSIONS, String(version));
    const name = path.basename(folder);
    try {
      await fs.rename(path.join(staged, name), path.join(pending, name));
      const { facts, createTime } = file;
      const metadata: Metadata = {
        version,
        canonicalUri: url.pathToFileURL(path.join(published, name)).href,
        customMetadata: withOwnFacts(facts, { hash }) ?? {},
        createTime: createTime / 1000,
        mimeType: facts.mimeType,
        fileName: filenameOf(place.owner, place.name),
        displayName: facts.displayName,
      };
      await fs.writeFile(path.join(pending, METADATA), JSON.stringify(metadata));
      await fs.rename(pending, published);
      return { version, facts, size, createTime, hash };
    } catch (error) {
      await fs.rm(pending, { recursive: true, force: true });
      throw error;
    }
  }

  /** Reserves the first number from one on that nobody has reserved. */
  async #reserve(
    folder: string,
    first: number,
  ): Promise<{ readonly version: number; readonly pending: string }> {
    const { fs, path } = this.#node;
    const versions = path.join(folder, VERSIONS);
    await fs.mkdir(versions, { recursive: true });
    for (let version = first; ; version += 1) {
      const pending = path.join(versions, `.${version}.pending`);
      try {
        await fs.mkdir(pending);
      } catch (error) {
        if (codeOf(error) === 'EEXIST') continue;
        throw error;
      }
      const published = await fs.stat(path.join(versions, String(version))).catch(() => undefined);
      if (published === undefined) return { version, pending };
      await fs.rmdir(pending);
    }
  }

  async versions(place: FilePlace): Promise<readonly FileVersion[]> {
    const folder = this.#folderOf(place);
    return folder === undefined ? [] : withErrors(() => this.#versions(folder));
  }

  async #versions(folder: string): Promise<FileVersion[]> {
    const numbers = await this.#numbers(folder);
    const versions = await Promise.all(numbers.map((version) => this.#version(folder, version)));
    return versions.filter((version) => version !== undefined);
  }

  async #numbers(folder: string): Promise<number[]> {
    const { fs, path } = this.#node;
    const names = await listed(fs.readdir(path.join(folder, VERSIONS)));
    return names
      .filter((name) => /^\d{1,15}$/.test(name))
      .map(Number)
      .sort((one, other) => one - other);
  }

  /** Reads what is known of a version. Others may have written anything. */
  async #version(folder: string, version: number): Promise<FileVersion | undefined> {
    const { fs, path } = this.#node;
    const published = path.join(folder, VERSIONS, String(version));
    const file = await fs.stat(path.join(published, path.basename(folder))).catch(() => undefined);
    if (file?.isFile() !== true) return undefined;
    const text = await fs.readFile(path.join(published, METADATA), 'utf8').catch(() => '');
    const { mimeType, displayName, createTime, customMetadata } = parsed(text);
    const { hash, ...own } = ownFactsOf(customMetadata);
    const facts = { ...own, mimeType, displayName };
    const milliseconds = createTime === undefined ? file.mtimeMs : createTime * 1000;
    return { version, facts, size: file.size, createTime: milliseconds, hash };
  }

  names(owner: FileOwner): Promise<readonly string[]> {
    const scope = this.#scopeOf(owner);
    if (scope === undefined) return Promise.resolve([]);
    return withErrors(async () => {
      const { path } = this.#node;
      const names = [];
      for (const folder of await this.#filesIn(scope)) {
        const name = path.relative(scope, folder).replaceAll(path.sep, '/');
        if (isFileName(name) && (await this.#numbers(folder)).length > 0) names.push(name);
      }
      return names;
    });
  }

  /** Returns the folders of the files in a folder: those that have versions. */
  async #filesIn(folder: string): Promise<string[]> {
    const { fs, path } = this.#node;
    const entries = await listed(fs.readdir(folder, { withFileTypes: true }));
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const others = folders.filter((name) => name !== VERSIONS);
    const below = await Promise.all(others.map((name) => this.#filesIn(path.join(folder, name))));
    return [...(folders.includes(VERSIONS) ? [folder] : []), ...below.flat()];
  }

  async open(
    place: FilePlace,
    version: number,
    { start, end }: ByteRange,
  ): Promise<Blob | undefined> {
    const folder = this.#folderOf(place);
    if (folder === undefined) return undefined;
    const { path, openAsBlob } = this.#node;
    const stored = await this.#version(folder, version);
    if (stored === undefined) return undefined;
    const file = path.join(folder, VERSIONS, String(version), path.basename(folder));
    // It is read when the Blob is.
    const blob = await openAsBlob(file).catch(() => undefined);
    return blob?.slice(start, end, stored.facts.mimeType);
  }

  delete(place: FilePlace): Promise<void> {
    return this.#remove(place, '');
  }

  takeBack(place: FilePlace, version: number): Promise<void> {
    return this.#remove(place, String(version));
  }

  /** @param version empty: all versions */
  async #remove(place: FilePlace, version: string): Promise<void> {
    const folder = this.#folderOf(place);
    if (folder === undefined) return;
    const { fs, path } = this.#node;
    const removed = path.join(folder, VERSIONS, version);
    await withErrors(async () => {
      await fs.rm(removed, { recursive: true, force: true });
      await this.#prune(path.join(folder, VERSIONS), this.#scopeOf(place.owner)!);
    });
  }

  /** Removes a folder and those around it that are empty then. A file may be in the folder of another one. */
  async #prune(folder: string, end: string): Promise<void> {
    const { fs, path } = this.#node;
    for (let empty = folder; empty !== end && empty.startsWith(end); empty = path.dirname(empty)) {
      const isRemoved = await fs.rmdir(empty).then(
        () => true,
        (error: unknown) => codeOf(error) === 'ENOENT',
      );
      if (!isRemoved) return;
    }
  }

  usage(request: ArtifactUsageRequest): Promise<ArtifactUsage> {
    return withErrors(async () => {
      let [versions, bytes] = [0, 0];
      for (const folder of this.#foldersOf(request)) {
        for (const file of await this.#filesIn(folder)) {
          for (const { size } of await this.#versions(file)) {
            versions += 1;
            bytes += size;
          }
        }
      }
      return { versions, bytes };
    });
  }

  erase(owner: ErasedOwner): Promise<void> {
    const { fs, path } = this.#node;
    return withErrors(async () => {
      for (const folder of this.#foldersOf(owner)) {
        await fs.rm(folder, { recursive: true, force: true });
        await this.#prune(path.dirname(folder), path.join(this.#root, 'apps'));
      }
    });
  }

  copy(from: CompositeSessionKey, to: CompositeSessionKey, call: Abortable): Promise<void> {
    return copyFiles(this, from, to, call);
  }

  /** Returns the folder of a file; `undefined` if google-adk refuses one of the ids. */
  #folderOf({ owner, name }: FilePlace): string | undefined {
    const scope = this.#scopeOf(owner);
    return scope && this.#node.path.join(scope, ...name.split('/'));
  }

  #scopeOf({ appName, userId, sessionId }: FileOwner): string | undefined {
    if (![appName, userId, sessionId ?? 'user'].every(isPathId)) return undefined;
    const user = ['apps', appName, 'users', userId];
    const session = sessionId === undefined ? [] : ['sessions', sessionId];
    return this.#node.path.join(this.#root, ...user, ...session, 'artifacts');
  }

  /** Returns the folders of a session, or of a user: not that of the user, which may hold another user's with a slash. */
  #foldersOf({ appName, userId, sessionId }: ErasedOwner): string[] {
    const folder = this.#scopeOf({ appName, userId, sessionId });
    if (folder === undefined) return [];
    const { path } = this.#node;
    return sessionId === undefined
      ? [folder, path.join(path.dirname(folder), 'sessions')]
      : [folder];
  }
}

/** The bytes of a put, in a folder of their own. */
interface StagedBytes extends WrittenBytes {
  readonly staged: string;
}

interface WrittenBytes {
  readonly size: number;
  readonly hash: string | undefined;
}

/** What `metadata.json` has, in this order. A member that is absent is left out. */
interface Metadata {
  readonly version: number;
  readonly canonicalUri: string;
  readonly customMetadata: Record<string, unknown>;
  /** In seconds. */
  readonly createTime: number;
  readonly mimeType: string | undefined;
  readonly fileName: string;
  readonly displayName: string | undefined;
}

function parsed(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // As google-adk has it, the version is a text without metadata.
  }
  const { mimeType, displayName, createTime, customMetadata } = Object(value) as Partial<
    Record<keyof Metadata, unknown>
  >;
  const isText = (given: unknown): given is string => typeof given === 'string';
  return {
    mimeType: isText(mimeType) ? mimeType : undefined,
    displayName: isText(displayName) ? displayName : undefined,
    createTime: typeof createTime === 'number' ? createTime : undefined,
    customMetadata: Object(customMetadata) as Record<string, unknown>,
  };
}

const UNFIT =
  'has an id that google-adk refuses in a path: it is blank, begins with a slash or a drive, or has an empty part, ".", "..", or a slash and a word of the tree';

/** Whether google-adk's `validate_path_segment` accepts an id. It may have slashes. */
function isPathId(id: string): boolean {
  if (id.trim() === '' || /^[/\\]|^[a-z]:|\0/i.test(id)) return false;
  const parts = id.split(/[/\\]/).map((part) => part.toLowerCase());
  // Without these parts, the path would be that of another id.
  if (['', '.', '..'].some((part) => parts.includes(part))) return false;
  return parts.length === 1 || !parts.some((part) => RESERVED.includes(part));
}

/** Writes the bytes of a new file. */
async function writeChunks(
  fs: FileSystem,
  file: string,
  data: NewFile['data'],
): Promise<WrittenBytes> {
  const digest = new ChunkHash();
  const handle = await fs.open(file, 'wx');
  try {
    let size = 0;
    for await (const chunk of chunksOf(data)) {
      await digest.add(chunk);
      await handle.writeFile(chunk);
      size += chunk.length;
    }
    return { size, hash: await digest.end() };
  } finally {
    await handle.close();
  }
}
