import type {
  ArtifactRequest,
  ArtifactUsage,
  ArtifactUsageRequest,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
} from '../../values/model/artifact.js';
import type { Content, Part } from '../../values/model/event/content.js';
import type { HostBlob } from '../../values/model/host.js';
import type { Session, CompositeSessionKey } from '../../values/model/session.js';
import type { StateSchema } from '../../values/state/state_schema.js';

/** The members of an invocation that its contexts use. */
export interface RunningInvocation<S extends object> {
  readonly invocationId: string;
  readonly session: Session<S>;
  readonly userContent: Content | undefined;
  readonly artifactService: ArtifactService | undefined;
  readonly stateSchema: StateSchema | undefined;
  /** @throws SessionError `invalid_argument` after the end */
  assertRunning(): void;
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
  /** Opens a version of a file, by default the newest, or a range of its bytes, without base64. */
  open?(request: OpenArtifactRequest): Promise<HostBlob | undefined>;
  /** Stores bytes as a new version, without base64. It is stored whole or not at all. */
  put?(request: PutArtifactRequest): Promise<ArtifactVersion>;
  /** Counts the files of a session or a user. A service that was given with the option rejects with `unsupported`. */
  usage?(request: ArtifactUsageRequest): Promise<ArtifactUsage>;
}
