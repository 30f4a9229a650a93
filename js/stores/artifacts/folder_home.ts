/**
 * Files in a folder, in the tree of google-adk's `FileArtifactService` (2.13), which may use the folder at the same time:
 *
 * `ROOT/apps/APP/users/USER[/sessions/SESSION]/artifacts/NAME/versions/VERSION/{last part of NAME, metadata.json}`
 *
 * A version is written into `ROOT/.puts`. Once its bytes are there, `versions/.VERSION.pending` is created, which reserves
 * the number, and the version is renamed to its place. So readers find it whole or not at all. Like there, the numbers of a
 * deleted file are given again, and a number that a killed program has reserved stays free. Bytes that a killed program
 * has left go with a put after a day. A program that ends while it deletes a session may leave the session's files. The
 * path in the metadata, `canonicalUri`, is for others: it is never opened.
 */
import { KeyedQueue } from '../../core/call/scheduling.js';
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
import { decidePut, factsOfSize } from './file_versions.js';
import { FolderPaths, PUTS } from './folder_paths.js';
import { codeOf, listed, type Node, nodeModules, REMOVAL, withErrors } from './node_files.js';
import { ownFactsOf, withOwnFacts } from './own_facts.js';

type FileSystem = typeof import('node:fs/promises');

const VERSIONS = 'versions';
const METADATA = 'metadata.json';

/** How often a put tries again because another program has deleted the folder of its file meanwhile. */
const MOST_ATTEMPTS = 20;

/**
 * The puts and deletions of each user's files, one after the other: services over one folder share it. Other programs do
 * not, so a put may still meet their deletions.
 */
const changes = new KeyedQueue<string>();

/** Keeps files in a folder. */
export class FolderHome implements ArtifactHome, SeparateFiles {
  readonly separate = this;
  readonly #paths: FolderPaths;
  readonly #node: Node;

  constructor(folder: string, node = nodeModules()) {
    this.#node = node;
    this.#paths = new FolderPaths(folder, node);
  }

  async put(place: FilePlace, file: NewFile): Promise<FileVersion> {
    const folder = this.#paths.ofFile(place);
    if (folder === undefined) throw this.#paths.unfitError(place);
    const { fs, path } = this.#node;
    const requireNoClash = (): Promise<void> =>
      this.#paths.requireNoClash(folder, this.#paths.ofOwner(place.owner));
    return withErrors(async () => {
      // Before the bytes are read: the caller may choose another name for a stream, too.
      await requireNoClash();
      const puts = path.join(this.#paths.root, PUTS);
      await fs.mkdir(puts, { recursive: true });
      await this.#removeOldPuts(puts);
      const put = await fs.mkdtemp(path.join(puts, 'put-'));
      try {
        // The folder of the put is for this user of the system alone; that of the version is not.
        const staged = path.join(put, 'version');
        await fs.mkdir(staged);
        const target = path.join(staged, path.basename(folder));
        const bytes = await writeChunks(fs, target, file.data, place.name);
        return await changes.run(this.#paths.queueOf(place.owner), async () => {
          await requireNoClash();
          return this.#publish(place, folder, file, { staged, ...bytes });
        });
      } finally {
        await fs.rm(put, REMOVAL);
      }
    });
  }

  /** Removes what killed programs have left. */
  async #removeOldPuts(puts: string): Promise<void> {
    const { fs, path } = this.#node;
    for (const name of await listed(fs.readdir(puts))) {
      const put = path.join(puts, name);
      // Another put may be removing it.
      const folder = await fs.stat(put).catch(() => undefined);
      if (folder === undefined || Date.now() - folder.mtimeMs < UNUSED_MS) continue;
      // That of another user of the system stays.
      await fs.rm(put, REMOVAL).catch(() => undefined);
    }
  }

  /** Makes a version of bytes that are there. Another program may delete the folder of the file at any time. */
  async #publish(
    place: FilePlace,
    folder: string,
    file: Omit<NewFile, 'data'>,
    bytes: StagedBytes,
  ): Promise<FileVersion> {
    for (let attempt = 1; ; attempt += 1) {
      const { version, stored } = decidePut(await this.#versions(folder), file);
      if (stored !== undefined) return stored;
      try {
        return await this.#publishFrom(version, place, folder, file, bytes);
      } catch (error) {
        const isGone = ['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '');
        if (!isGone || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  /** Makes a version with the first free number from one on. */
  async #publishFrom(
    first: number,
    place: FilePlace,
    folder: string,
    file: Omit<NewFile, 'data'>,
    { staged, size, hash }: StagedBytes,
  ): Promise<FileVersion> {
    const { fs, path, url } = this.#node;
    const { version, pending } = await this.#reserve(folder, first);
    try {
      const published = path.join(folder, VERSIONS, String(version));
      const facts = factsOfSize(file, size);
      const { createTime, created } = file;
      const metadata: Metadata = {
        version,
        canonicalUri: url.pathToFileURL(path.join(published, path.basename(folder))).href,
        customMetadata: withOwnFacts(facts, { hash, created }) ?? {},
        createTime: createTime / 1000,
        mimeType: facts.mimeType,
        fileName: filenameOf(place.owner, place.name),
        displayName: facts.displayName,
      };
      await fs.writeFile(path.join(staged, METADATA), JSON.stringify(metadata));
      await fs.rename(staged, published);
      return { version, facts, size, createTime, hash };
    } finally {
      await fs.rmdir(pending).catch(() => undefined);
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
    const folder = this.#paths.ofFile(place);
    if (folder === undefined) return [];
    return withErrors(async () => {
      const versions = await this.#versions(folder);
      return versions.length > 0 && (await this.#hasNameClash(folder)) ? [] : versions;
    });
  }

  /** Whether the file system takes a path for that of another name. */
  async #hasNameClash(folder: string, mayWrite = false): Promise<boolean> {
    return (await this.#paths.findNameClash(folder, mayWrite)) !== undefined;
  }

  async #versions(folder: string): Promise<StoredVersion[]> {
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
  async #version(folder: string, version: number): Promise<StoredVersion | undefined> {
    const { fs, path } = this.#node;
    const published = path.join(folder, VERSIONS, String(version));
    const file = await fs.stat(path.join(published, path.basename(folder))).catch(() => undefined);
    if (file?.isFile() !== true) return undefined;
    const text = await fs.readFile(path.join(published, METADATA), 'utf8').catch(() => '');
    const { mimeType, displayName, createTime, customMetadata } = parsed(text);
    const { hash, created, ...own } = ownFactsOf(customMetadata);
    const facts = { ...own, mimeType, displayName };
    const milliseconds = createTime === undefined ? file.mtimeMs : createTime * 1000;
    return { version, facts, size: file.size, createTime: milliseconds, hash, created };
  }

  names(owner: FileOwner): Promise<readonly string[]> {
    const scope = this.#paths.ofOwner(owner);
    if (scope === undefined) return Promise.resolve([]);
    return withErrors(async () => {
      const { path } = this.#node;
      const names = [];
      for (const folder of await this.#filesIn(scope)) {
        const name = path.relative(scope, folder).replaceAll(path.sep, '/');
        if (isFileName(name) && (await this.#numbers(folder)).length > 0) names.push(name);
      }
      return names.length > 0 && (await this.#hasNameClash(scope)) ? [] : names;
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
    const folder = this.#paths.ofFile(place);
    if (folder === undefined) return undefined;
    const { path, openAsBlob } = this.#node;
    const stored = await this.#version(folder, version);
    if (stored === undefined || (await this.#hasNameClash(folder))) return undefined;
    const file = path.join(folder, VERSIONS, String(version), path.basename(folder));
    // It is read when the Blob is.
    const blob = await openAsBlob(file).catch(() => undefined);
    return blob?.slice(start, end, stored.facts.mimeType);
  }

  async delete(place: FilePlace): Promise<void> {
    const folder = this.#paths.ofFile(place);
    if (folder === undefined) return;
    await this.#change(place.owner, async () => {
      if ((await this.#numbers(folder)).length > 0) await this.#paths.requireNoClash(folder);
      await this.#remove(place, folder, '');
    });
  }

  async takeBack(place: FilePlace, version: number, created: number): Promise<void> {
    const folder = this.#paths.ofFile(place)!;
    await this.#change(place.owner, async () => {
      const stored = await this.#version(folder, version);
      if (stored !== undefined && isOfSession(stored, created)) {
        await this.#remove(place, folder, String(version));
      }
    });
  }

  /** @param version empty: all versions */
  async #remove({ owner }: FilePlace, folder: string, version: string): Promise<void> {
    const { fs, path } = this.#node;
    const versions = path.join(folder, VERSIONS);
    await fs.rm(path.join(versions, version), REMOVAL);
    await this.#prune(versions, this.#paths.ofOwner(owner)!);
  }

  /** Changes files of a user when the earlier changes have ended. */
  #change<T>(owner: Pick<FileOwner, 'appName' | 'userId'>, work: () => Promise<T>): Promise<T> {
    return withErrors(() => changes.run(this.#paths.queueOf(owner), work));
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
      for (const folder of this.#paths.ofErased(request)) {
        const files = await this.#filesIn(folder);
        if (files.length === 0 || (await this.#hasNameClash(folder))) continue;
        for (const file of files) {
          for (const { size } of await this.#versions(file)) {
            versions += 1;
            bytes += size;
          }
        }
      }
      return { versions, bytes };
    });
  }

  async requireErasable(owner: ErasedOwner): Promise<void> {
    await withErrors(async () => {
      for (const folder of this.#paths.ofErased(owner)) {
        const files = await this.#filesIn(folder);
        if (files.length > 0) await this.#paths.requireNoClash(folder);
      }
    });
  }

  erase(owner: ErasedOwner): Promise<void> {
    return this.#change(owner, async () => {
      for (const folder of this.#paths.ofErased(owner)) await this.#erase(folder, owner.created);
    });
  }

  /** Erases a folder but for the files of a later session with the id, which another program may be storing. */
  async #erase(folder: string, created: number | undefined): Promise<void> {
    const { fs, path } = this.#node;
    const files = await this.#filesIn(folder);
    if (files.length > 0 && (await this.#hasNameClash(folder, true))) return;
    if (created === undefined) await fs.rm(folder, REMOVAL);
    else for (const file of files) await this.#eraseFile(file, created);
    await this.#prune(created === undefined ? path.dirname(folder) : folder, this.#paths.apps);
  }

  async #eraseFile(file: string, created: number): Promise<void> {
    const { fs, path } = this.#node;
    const versions = path.join(file, VERSIONS);
    // Its numbers are read first: what is stored from now on stays.
    const names = await listed(fs.readdir(versions));
    const later = (await this.#versions(file)).filter((stored) => !isOfSession(stored, created));
    const spared = later.map(({ version }) => String(version));
    for (const name of names) {
      if (!spared.includes(name)) await fs.rm(path.join(versions, name), REMOVAL);
    }
    await this.#prune(versions, this.#paths.apps);
  }

  copy(from: CompositeSessionKey, to: CompositeSessionKey, call: Abortable): Promise<void> {
    return copyFiles(this, from, to, call);
  }
}

/** A version as it is in the folder. */
interface StoredVersion extends FileVersion {
  /** The number of the session that it was stored for; google-adk stores none. */
  readonly created: number | undefined;
}

/** Whether a version may be that of a session: some storages number no sessions. */
function isOfSession(stored: StoredVersion, created: number): boolean {
  return stored.created === undefined || !Number.isFinite(created) || stored.created === created;
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

/** Writes the bytes of a new file. */
async function writeChunks(
  fs: FileSystem,
  file: string,
  data: NewFile['data'],
  name: string,
): Promise<WrittenBytes> {
  const digest = new ChunkHash();
  const handle = await fs.open(file, 'wx');
  try {
    let size = 0;
    for await (const chunk of chunksOf(data, name)) {
      await digest.add(chunk);
      await handle.writeFile(chunk);
      size += chunk.length;
    }
    return { size, hash: await digest.end() };
  } finally {
    await handle.close();
  }
}
