import type { Content, Part } from '../../values/model/event/content.js';
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

/**
 * The storage of a session's files, in the shape of `@google/adk`, whose services fit. The service
 * stores a file whose name begins with `user:` for the user and not for the session.
 *
 * @example
 * ```ts
 * import { InMemoryArtifactService } from '@google/adk';
 * import type { ArtifactService } from 'adk-session-wasm';
 *
 * const artifactService: ArtifactService = new InMemoryArtifactService();
 * ```
 */
export interface ArtifactService {
  /** Saves a file. Resolves to its version, from 0. */
  saveArtifact(
    request: CompositeSessionKey & { filename: string; artifact: Part },
  ): Promise<number>;
  /**
   * Loads a version of a file, by default the newest. Resolves to `undefined` if there is no such
   * file.
   */
  loadArtifact(
    request: CompositeSessionKey & { filename: string; version?: number },
  ): Promise<Part | undefined>;
  /** Resolves to the names of the session's files. */
  listArtifactKeys(request: CompositeSessionKey): Promise<string[]>;
}
