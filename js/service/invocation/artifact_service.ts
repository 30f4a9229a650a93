import type { Part } from '../../values/model/event/content.js';
import type { CompositeSessionKey } from '../../values/model/session.js';

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
