/** The requests and results of artifact services: the files of a session and of a user. */
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
  /** From 0. Absent: the newest. */
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
  /** The bytes. */
  data: ArtifactData;
  /** An IANA media type. Default: that of the `Blob`, else `application/octet-stream`. */
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

/** The methods of an artifact service, for diagnostics. */
export type ArtifactMethod =
  | 'saveArtifact'
  | 'loadArtifact'
  | 'listArtifactKeys'
  | 'deleteArtifact'
  | 'listVersions'
  | 'listArtifactVersions'
  | 'getArtifactVersion'
  | 'open'
  | 'put'
  | 'usage';
