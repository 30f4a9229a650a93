/** The files on a server: the methods of an artifact service, over HTTP. The first call of `service.artifacts` loads it. */
import type { Call } from '../../core/call/call.js';
import { blobOf } from '../../stores/artifacts/file_bytes.js';
import {
  factsOfSize,
  fileOfPart,
  partOf,
  takeFacts,
  takePart,
  takePut,
} from '../../stores/artifacts/file_versions.js';
import { dataOf, isBlob } from '../../stores/artifacts/given_files.js';
import { placeOf } from '../../stores/artifacts/artifact_names.js';
import type {
  HttpConnection,
  pathOf,
  ReadResponse,
  RemoteRequest,
} from '../../stores/remote/connection/connection.js';
import { bodyMs } from '../../stores/http/exchange.js';
import type { pathTo } from '../../stores/remote/write_request.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { browserType } from '../../values/model/values/media_type.js';
import { isPlainObject } from '../../values/json/rules.js';
import { optionalCount } from '../../values/errors/option_values.js';
import type {
  ArtifactRequest,
  ArtifactUsage,
  ArtifactUsageRequest,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
  SaveArtifactRequest,
} from '../../values/model/artifact.js';
import type { Part } from '../../values/model/event/content.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { requireId, requireKey, requireUser } from '../../values/model/values/ids.js';
import type { ArtifactMethods } from '../artifacts/artifacts.js';

/** The bytes that are asked for at once: each part has the timeout of a call, and is asked for again by itself. */
const RANGE_BYTES = 2 ** 22;

/** What the service has loaded: an import here would split it into more files of a bundle. */
export interface RemoteArtifactsParts {
  /** Its kind of server is known. */
  readonly connection: HttpConnection;
  readonly pathTo: typeof pathTo;
  readonly pathOf: typeof pathOf;
  readonly newId: () => string;
}

/**
 * Files on the handler of `adk-session-wasm/server`, or on `adk api_server`. That keeps neither author nor id, and takes
 * and returns a file whole, as base64.
 */
export class RemoteArtifacts implements ArtifactMethods {
  readonly #parts: RemoteArtifactsParts;
  readonly #connection: HttpConnection;
  readonly #isHandler: boolean;

  constructor(parts: RemoteArtifactsParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#isHandler = parts.connection.kind?.isHandler === true;
  }

  async saveArtifact(request: SaveArtifactRequest, call: Call): Promise<number> {
    const { data, facts } = takePart(request.artifact);
    const isText = facts.mimeType === undefined;
    // An empty part may be the mark of a rewind, which a put would change.
    const asPart = isText || data.size === 0 || !this.#isHandler;
    const stored = asPart
      ? await this.#save(request, call)
      : await this.put({ ...request, ...facts, data }, call);
    return stored.version;
  }

  async put(request: PutArtifactRequest, call: Call): Promise<ArtifactVersion> {
    const path = this.#pathOf(request);
    const blob = await blobOf(dataOf(request.data), request.filename);
    const facts = factsOfSize(takePut(request, blob), blob.size);
    const { mimeType, displayName, author, customMetadata, id = this.#parts.newId() } = facts;
    if (!this.#isHandler) {
      const artifact = await partOf({ facts: { mimeType, displayName } }, blob);
      return this.#save({ ...request, artifact }, call);
    }
    const most = this.#connection.kind?.maxArtifactBytes ?? Infinity;
    if (blob.size > most) {
      const message = `The file is too large: it has ${blob.size} bytes, and the server takes ${most}.`;
      throw new SessionError('remote', message, { status: 413, storage: 'remote' });
    }
    const query = { id, displayName, author, customMetadata: jsonOf(customMetadata) };
    const timeoutMs = this.#timeoutFor(blob.size);
    const body = blob.slice(0, blob.size, mimeType);
    const sent = { path, query, body, timeoutMs, isIdempotent: true };
    return (await this.#connection.request({ method: 'PUT', ...sent }, call, versionIn))!;
  }

  async #save(request: SaveArtifactRequest, call: Call): Promise<ArtifactVersion> {
    placeOf(request);
    const { filename, artifact } = request;
    const { customMetadata, author, id = this.#parts.newId() } = takeFacts(request);
    const own = this.#isHandler ? { author, id } : {};
    const body = JSON.stringify({ filename, artifact, customMetadata, ...own });
    const path = this.#parts.pathTo(keyIn(request), '/artifacts');
    const timeoutMs = this.#timeoutFor(body.length);
    const save = { method: 'POST', path, body, timeoutMs, isIdempotent: this.#isHandler } as const;
    return (await this.#connection.request(save, call, versionIn))!;
  }

  async loadArtifact(request: ArtifactVersionRequest, call: Call): Promise<Part | undefined> {
    return this.#get(request, versionPath(request), call, partAsJson);
  }

  async open(request: OpenArtifactRequest, call: Call): Promise<Blob | undefined> {
    const start = optionalCount('start', request.start) ?? 0;
    const last = optionalCount('end', request.end) ?? Infinity;
    const { version } = request;
    const path = this.#pathOf(request);
    if (versionPath(request) === undefined) return undefined;
    if (!this.#isHandler) {
      const part = await this.loadArtifact(request, call);
      const file = part && fileOfPart(part);
      return file?.data.slice(start, last, browserType(file.facts.mimeType ?? 'text/plain'));
    }
    const blobs: Blob[] = [];
    let at = start;
    let etag: string | undefined;
    for (;;) {
      const end = Math.max(at + 1, Math.min(last, at + RANGE_BYTES));
      const range = `bytes=${at}-${end - 1}`;
      const headers = { range, ...(etag !== undefined && { 'if-range': etag }) };
      const query = { alt: 'media', version };
      const none = 'not_found' as const;
      const get = {
        method: 'GET',
        path,
        query,
        headers,
        readsBytes: true,
        none,
      } as const;
      const read = await this.#connection.request(get, call, rangeIn).catch((error: unknown) => {
        if (isSessionError(error, 'remote') && error.status === 416) return PAST_END;
        throw error;
      });
      if (read === undefined) return undefined;
      const { blob, size } = read;
      // There is another version now, or the server has sent the whole file.
      if (size === undefined) return blob.slice(start, last, blob.type);
      blobs.push(blob);
      at += blob.size;
      etag = read.etag;
      if (at >= Math.min(last, size) || blob.size === 0) {
        return new Blob(blobs).slice(0, Math.max(0, last - start), blob.type);
      }
      if (etag !== undefined || version !== undefined) continue;
      // Without an ETag, only its number keeps the ranges to one version.
      const newest = await this.getArtifactVersion(request, call);
      return newest && this.open({ ...request, version: newest.version }, call);
    }
  }

  async listArtifactKeys(request: CompositeSessionKey, call: Call): Promise<string[]> {
    requireKey(request);
    const get = { method: 'GET', path: this.#parts.pathTo(keyIn(request), '/artifacts') } as const;
    const read = listOf((name) => (typeof name === 'string' ? name : undefined));
    return (await this.#connection.request({ ...get, none: 'not_found' }, call, read)) ?? [];
  }

  async deleteArtifact(request: ArtifactRequest, call: Call): Promise<void> {
    const path = this.#pathOf(request);
    const deletion = { method: 'DELETE', path, none: 'not_found' } as const;
    await this.#connection.request(deletion, call, (json) => json === null || undefined);
  }

  async listVersions(request: ArtifactRequest, call: Call): Promise<number[]> {
    return (await this.#get(request, '/versions', call, listOf(wholeIn))) ?? [];
  }

  async listArtifactVersions(request: ArtifactRequest, call: Call): Promise<ArtifactVersion[]> {
    const versions = await this.#get(request, '/versions/metadata', call, listOf(versionIn));
    return (versions ?? []).map((version) => this.#toVersion(version));
  }

  async getArtifactVersion(
    request: ArtifactVersionRequest,
    call: Call,
  ): Promise<ArtifactVersion | undefined> {
    const path = versionPath(request);
    const version = await this.#get(request, path && `${path}/metadata`, call, versionIn);
    return version && this.#toVersion(version);
  }

  async usage(request: ArtifactUsageRequest, call: Call): Promise<ArtifactUsage> {
    requireUser(request);
    const { appName, userId, sessionId } = request;
    if (sessionId !== undefined) requireId('sessionId', sessionId);
    if (!this.#isHandler) {
      const message = 'adk api_server does not tell how much its files take.';
      throw new SessionError('unsupported', message, { storage: 'remote' });
    }
    const key = sessionId === undefined ? { appName, userId } : { appName, userId, sessionId };
    const get = {
      method: 'GET',
      path: this.#parts.pathTo(key, '/artifact-usage'),
      none: 'not_found',
    } as const;
    const usage = await this.#connection.request(get, call, usageIn);
    return usage ?? { versions: 0, bytes: 0 };
  }

  /** @param end absent: no file has such a version */
  async #get<T>(
    request: ArtifactRequest,
    end: string | undefined,
    call: Call,
    read: ReadResponse<T>,
  ): Promise<T | undefined> {
    const path = this.#pathOf(request);
    if (end === undefined) return undefined;
    const get: RemoteRequest = { method: 'GET', path: path + end, none: 'not_found' };
    return this.#connection.request(get, call, read);
  }

  /** Returns the milliseconds that a request with so many bytes may take. */
  #timeoutFor(bytes: number): number {
    return this.#connection.options.timeoutMs + bodyMs(bytes);
  }

  /** @throws SessionError `invalid_argument` for the key or the name */
  #pathOf(request: ArtifactRequest): string {
    placeOf(request);
    const { filename } = request;
    const name = this.#isHandler
      ? this.#parts.pathOf(filename)
      : `/${encodeURIComponent(filename)}`;
    return this.#parts.pathTo(keyIn(request), `/artifacts${name}`);
  }

  #toVersion(version: ArtifactVersion): ArtifactVersion {
    if (this.#isHandler) return version;
    const { createTime = 0 } = version;
    return { ...version, createTime: Math.round(createTime * 1e6) / 1e3 };
  }
}

/** What is read of a file at once. */
interface FileRange {
  readonly blob: Blob;
  /** The size of the file. Absent: `blob` is the whole file. */
  readonly size: number | undefined;
  readonly etag: string | undefined;
}

const PAST_END: FileRange = { blob: new Blob(), size: 0, etag: undefined };

const rangeIn: ReadResponse<FileRange> = (content, headers) => {
  if (!isBlob(content)) return undefined;
  const [, size] = /^bytes \d+-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  const etag = headers.get('etag') ?? undefined;
  return { blob: content, size: size === undefined ? undefined : Number(size), etag };
};

const partAsJson = (json: unknown): Part | undefined => (isPlainObject(json) ? json : undefined);

const wholeIn = (json: unknown): number | undefined =>
  Number.isSafeInteger(json) ? (json as number) : undefined;

/** A version is told by its number; the rest is shown as it came. */
const versionIn = (json: unknown): ArtifactVersion | undefined =>
  isPlainObject(json) && wholeIn(json.version) !== undefined
    ? (json as unknown as ArtifactVersion)
    : undefined;

const usageIn = (json: unknown): ArtifactUsage | undefined => {
  if (!isPlainObject(json)) return undefined;
  const [versions, bytes] = [wholeIn(json.versions), wholeIn(json.bytes)];
  return versions === undefined || bytes === undefined ? undefined : { versions, bytes };
};

function listOf<T>(itemIn: (json: unknown) => T | undefined): (json: unknown) => T[] | undefined {
  return (json) => {
    if (!Array.isArray(json)) return undefined;
    const items = json.flatMap((item: unknown) => itemIn(item) ?? []);
    return items.length === json.length ? items : undefined;
  };
}

function keyIn({ appName, userId, sessionId }: CompositeSessionKey): CompositeSessionKey {
  return { appName, userId, sessionId };
}

/** Returns the end of the path of a version; `undefined` for a number that none has. */
function versionPath({ version = 'latest' }: { version?: number | 'latest' }): string | undefined {
  const isValid = version === 'latest' || (Number.isSafeInteger(version) && version >= 0);
  return isValid ? `/versions/${version}` : undefined;
}

function jsonOf(value: object | undefined): string | undefined {
  return value && JSON.stringify(value);
}
