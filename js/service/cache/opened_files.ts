/** The files that a user has opened, in the browser's Cache API: one cache an owner. */
import type { FilePlace } from '../../stores/artifacts/artifact_names.js';
import { isPlainObject } from '../../values/json/rules.js';
import type { ArtifactVersion } from '../../values/model/artifact.js';

/** The most bytes of an owner. The files that were opened first go first. */
const MOST_BYTES = 2 ** 27;

/** What an entry counts besides its bytes. */
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
      if (version === undefined) await cache.delete(address);
      else await cache.put(address, Response.json(version));
    });
  }

  async bytes(place: FilePlace, version: ArtifactVersion): Promise<Blob | undefined> {
    const address = bytesOf(place, version);
    if (address === undefined) return undefined;
    return this.#with(async (cache) => (await cache.match(address))?.blob());
  }

  async keepBytes(place: FilePlace, version: ArtifactVersion, blob: Blob): Promise<void> {
    const address = bytesOf(place, version);
    if (address === undefined || blob.size > MOST_BYTES / 4) return;
    await this.#with(async (cache) => {
      await cache.put(address, new Response(blob));
      const entries = await cache.keys();
      let bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
      for (const entry of entries) {
        if (bytes <= MOST_BYTES) break;
        bytes -= sizeOf(entry);
        await cache.delete(entry);
      }
    });
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

/** Without a hash, a version has its bytes alone; a service that tells no time may give its number again. */
function bytesOf(place: FilePlace, version: ArtifactVersion): string | undefined {
  const { hash, createTime, size = 0 } = version;
  if (hash !== undefined) return `${ADDRESS}bytes/${hash}?${size}`;
  if (createTime === undefined) return undefined;
  return `${addressOf(place, version.version)}/${createTime}?${size}`;
}

function sizeOf({ url }: Request): number {
  return ENTRY_BYTES + Number(new URL(url).search.slice(1));
}
