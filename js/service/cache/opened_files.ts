/** The files that a user has opened, in the browser's Cache API: one cache an owner. */
import type { FilePlace } from '../../stores/artifacts/artifact_names.js';
import { hashOf } from '../../stores/artifacts/file_bytes.js';
import { isPlainObject } from '../../values/json/rules.js';
import type { ArtifactVersion } from '../../values/model/artifact.js';

/** The most bytes of an owner. The files that were opened first go first. */
const MAX_BYTES = 2 ** 27;

/** A larger file is not kept: it would take the place of too many others. */
const MAX_FILE_BYTES = MAX_BYTES / 4;

/** What an entry counts besides the bytes of a file. */
const ENTRY_BYTES = 2 ** 10;

/** No request is sent there: a Cache needs addresses as names. */
const ADDRESS = 'https://adk-session-wasm.invalid/';

/**
 * Keeps what is known of the versions of files, and their bytes by hash: a fork has the same. It fails at nothing: where
 * the browser has no room or no Cache API, there are no files.
 */
export class OpenedFiles {
  readonly #name: string;

  /** @param name of the Cache */
  constructor(name: string) {
    this.#name = name;
  }

  /** Returns what was known of a version; `undefined`: of the newest. */
  async version(
    place: FilePlace,
    version: number | undefined,
  ): Promise<ArtifactVersion | undefined> {
    const address = addressOf(place, version);
    return this.#with(async (cache) => {
      const response = await cache.match(address);
      const version: unknown = await response?.json();
      return isPlainObject(version) ? (version as unknown as ArtifactVersion) : undefined;
    });
  }

  /** Keeps what is known of a version that was asked for by its number, or as the newest. */
  async keepVersion(
    place: FilePlace,
    asked: number | undefined,
    version: ArtifactVersion | undefined,
  ): Promise<void> {
    await this.#with(async (cache) => {
      const address = addressOf(place, asked);
      if (version === undefined) {
        await cache.delete(address);
        return;
      }
      const { version: number, mimeType, size, createTime, hash } = version;
      // Not what its writer says of it, which may be long.
      const record = JSON.stringify({ version: number, mimeType, size, createTime, hash });
      const known = await cache.match(address);
      if ((await known?.text()) !== record) await put(cache, address, new Blob([record]));
    });
  }

  async bytes(place: FilePlace, version: ArtifactVersion): Promise<Blob | undefined> {
    const { size } = version;
    const address = bytesAddress(place, version);
    if (address === undefined) return undefined;
    return this.#with(async (cache) => {
      const options = { ignoreSearch: size === undefined };
      return (await cache.match(`${address}?${size}`, options))?.blob();
    });
  }

  /** Keeps the bytes that a version's number has given, unless it is the number of another file since. */
  async keepBytes(place: FilePlace, version: ArtifactVersion, blob: Blob): Promise<void> {
    const address = bytesAddress(place, version);
    if (address === undefined || blob.size > MAX_FILE_BYTES) return;
    const { size = blob.size, hash } = version;
    if (size !== blob.size || (hash !== undefined && hash !== (await hashOf(blob, place.name))))
      return;
    await this.#with((cache) => put(cache, `${address}?${blob.size}`, blob));
  }

  async #with<T>(work: (cache: Cache) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(await caches.open(this.#name));
    } catch {
      return undefined;
    }
  }
}

function addressOf({ owner, name }: FilePlace, version: number | undefined): string {
  const { appName, userId, sessionId = null } = owner;
  const key = [appName, userId, sessionId, name, version ?? null];
  return `${ADDRESS}version/${encodeURIComponent(JSON.stringify(key))}`;
}

/**
 * Returns the address of bytes; their size follows it. Without a hash, a version has its bytes alone; a service that tells
 * no time may give its number again.
 */
function bytesAddress(
  place: FilePlace,
  { version, hash, createTime }: ArtifactVersion,
): string | undefined {
  if (hash !== undefined) return `${ADDRESS}bytes/${hash}`;
  return createTime === undefined ? undefined : `${addressOf(place, version)}/${createTime}`;
}

/** Puts an entry, and deletes the first ones that are too many. */
async function put(cache: Cache, address: string, blob: Blob): Promise<void> {
  await cache.put(address, new Response(blob));
  const entries = await cache.keys();
  let bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  for (const entry of entries) {
    if (bytes <= MAX_BYTES) break;
    bytes -= sizeOf(entry);
    await cache.delete(entry);
  }
}

function sizeOf({ url }: Request): number {
  return ENTRY_BYTES + Number(new URL(url).search.slice(1));
}
