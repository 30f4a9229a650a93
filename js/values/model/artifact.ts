/** Artifact services, which keep the files of sessions and users: their methods, requests and results. */
import type { Part } from './event/content.js';
import type { HostBlob, HostReadableStream } from './host.js';
import type { Abortable, CompositeSessionKey } from './session.js';

/**
 * Names a file. A name that begins with `user:` names a file of the user, which all sessions of the user have. The rest
 * of a name is a path of at most 255 bytes, such as `chart.png` or `2026/chart.png`.
 */
export interface ArtifactRequest extends CompositeSessionKey, Abortable {
  /** The name of the file. */
  filename: string;
}

/** Names a version of a file. */
export interface ArtifactVersionRequest extends ArtifactRequest {
  /** A whole number from 0; else the call fails with `invalid_argument`. Absent: the newest. */
  version?: number;
}

/** A request to read the bytes of a file, or a range of them. */
export interface OpenArtifactRequest extends ArtifactVersionRequest {
  /** The first byte; default 0. */
  start?: number | undefined;
  /** The byte after the last one; default the size of the file. */
  end?: number | undefined;
}

/** The bytes of a file: a `Blob`, a buffer, or a stream. */
export type ArtifactData =
  | HostBlob
  | ArrayBuffer
  | ArrayBufferView
  | HostReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** A file to attach to a message: a `File`, a `Blob`, or bytes with a name. */
export type AttachedFile =
  | HostBlob
  | {
      /** A name that no file can have, or that a file of an agent has, gets another form. */
      readonly name: string;
      /** The bytes. */
      readonly data: ArtifactData;
      /** An IANA media type. Default: that of the `Blob`, else `application/octet-stream`. */
      readonly mimeType?: string | undefined;
    };

/** A request to store a file as a new version. */
export interface PutArtifactRequest extends ArtifactRequest {
  /** The bytes. A buffer is copied at the call, and a `Blob` is read during the put. */
  data: ArtifactData;
  /**
   * An IANA media type of at most 255 bytes, without control characters. Default: that of the `Blob`, else
   * `application/octet-stream`, or `text/plain` without any bytes.
   */
  mimeType?: string | undefined;
  /** The name to show to people. */
  displayName?: string | undefined;
  /** A JSON object of your own. */
  customMetadata?: Record<string, unknown> | undefined;
  /** Who writes it: `'user'`, or the name of an agent. */
  author?: string | undefined;
  /** Names this put. A repetition with the same id stores nothing, and returns the version that the first one made. */
  id?: string | undefined;
}

/** A file to save, as a part of the ADK. */
export interface SaveArtifactRequest extends ArtifactRequest {
  /** With `inlineData` or a `text`. */
  artifact: Part;
  /** A JSON object of your own. */
  customMetadata?: Record<string, unknown> | undefined;
  /** Who saves it; only services of this package keep it. */
  author?: string | undefined;
  /** Names this save, as the `id` of a put does; only services of this package keep it. */
  id?: string | undefined;
}

/** What is known of a version of a file besides its bytes. A service of `@google/adk` tells the first four members. */
export interface ArtifactVersion {
  /** From 0. */
  version: number;
  /** An IANA media type. */
  mimeType?: string;
  /** Where `@google/adk`'s services keep it. A service of this package tells none, and never opens one. */
  canonicalUri?: string;
  /** The JSON object that the file was stored with. */
  customMetadata?: Record<string, unknown>;
  /** The name to show to people. */
  displayName?: string;
  /** In bytes. */
  size?: number;
  /** In milliseconds since 1970. */
  createTime?: number;
  /** Who has written it: `'user'`, the name of an agent, or absent if the writer did not tell. */
  author?: string;
  /** The SHA-256 over the SHA-256 of each MiB, in hexadecimal. Present over SQL and in a folder. */
  hash?: string;
}

/** Whose files to count. */
export interface ArtifactUsageRequest extends Abortable {
  /** The app. */
  appName: string;
  /** The user. */
  userId: string;
  /** Absent: the `user:` files, and the files of all sessions of the user. */
  sessionId?: string | undefined;
}

/** How much files take. */
export interface ArtifactUsage {
  /** The number of versions of all files. */
  versions: number;
  /** The sum of their sizes. What a storage keeps once for several versions counts for each of them. */
  bytes: number;
}

/**
 * The storage of the files of sessions and users, in the shape of `@google/adk`, whose services fit. An
 * {@link Invocation} needs the first three methods, the option `artifacts` of a session service the first seven.
 * `service.artifacts` has them all.
 *
 * A file whose name begins with `user:` belongs to the user, and not to the session. A file that does not exist is
 * `undefined` or empty, and deleting it is no error. Versions count from 0. Two saves at once get two versions.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService({ artifacts: true });
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * await service.createSession(key);
 * const data = new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>'], { type: 'image/svg+xml' });
 * await service.artifacts.put({ ...key, filename: 'chart.svg', data });
 * const blob = await service.artifacts.open({ ...key, filename: 'chart.svg' });
 * console.log(blob?.type); // image/svg+xml
 * ```
 */
export interface ArtifactService {
  /**
   * Saves a file. Resolves to its version, from 0.
   *
   * @throws SessionError (as a rejection; so do the others of a session service) `invalid_argument` for a name that no
   *   file can have, `not_found` if the session does not exist
   */
  saveArtifact(request: SaveArtifactRequest): Promise<number>;
  /**
   * Loads a version of a file, by default the newest. Resolves to `undefined` if there is no such
   * file.
   */
  loadArtifact(request: ArtifactVersionRequest): Promise<Part | undefined>;
  /** Resolves to the names of the session's files and of the user's. */
  listArtifactKeys(request: CompositeSessionKey): Promise<string[]>;
  /**
   * Deletes a file with all its versions. A later file of that name goes on counting, except in a folder and in services
   * of `@google/adk`.
   */
  deleteArtifact?(request: ArtifactRequest): Promise<void>;
  /** Resolves to the numbers of a file's versions, in order. */
  listVersions?(request: ArtifactRequest): Promise<number[]>;
  /** Resolves to what is known of a file's versions, in order. */
  listArtifactVersions?(request: ArtifactRequest): Promise<ArtifactVersion[]>;
  /** Resolves to what is known of a version, by default the newest; `undefined` if there is none. */
  getArtifactVersion?(request: ArtifactVersionRequest): Promise<ArtifactVersion | undefined>;
  /**
   * Opens a version of a file, by default the newest, or a range of its bytes, without base64. The type of the Blob has no
   * parameters, but the `charset` of a plain text. A stored text that is no type becomes `application/octet-stream`.
   */
  open?(request: OpenArtifactRequest): Promise<HostBlob | undefined>;
  /**
   * Stores bytes as a new version, without base64. It is stored whole or not at all.
   *
   * @throws SessionError `invalid_argument` also if `data` cannot be read, as a `File` that was changed since it was
   *   chosen; `cause` is what the host threw. `quota_exceeded` without room. `not_found` if the session does not exist
   */
  put?(request: PutArtifactRequest): Promise<ArtifactVersion>;
  /** Counts the files of a session or a user. A service that was given with the option rejects with `unsupported`. */
  usage?(request: ArtifactUsageRequest): Promise<ArtifactUsage>;
}

/** The methods of an artifact service, for diagnostics. */
export type ArtifactMethod = keyof ArtifactService;

/** All methods of an artifact service. A service of `@google/adk` has the first seven. */
export const ARTIFACT_METHODS: readonly ArtifactMethod[] = [
  'saveArtifact',
  'loadArtifact',
  'listArtifactKeys',
  'deleteArtifact',
  'listVersions',
  'listArtifactVersions',
  'getArtifactVersion',
  'open',
  'put',
  'usage',
];
