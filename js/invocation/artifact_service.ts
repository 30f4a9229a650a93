import type { Part } from '../model/event.js';
import type { CompositeSessionKey } from '../model/session.js';

/**
 * Where the files of a session are kept, in the shape of `@google/adk`, whose services fit. A file
 * name that begins with `user:` is kept for the user rather than the session: that is the service's
 * matter.
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
  /** Resolves to the version, from 0. */
  saveArtifact(
    request: CompositeSessionKey & { filename: string; artifact: Part },
  ): Promise<number>;
  /** Without `version`, the newest. Resolves to `undefined` if there is no such file. */
  loadArtifact(
    request: CompositeSessionKey & { filename: string; version?: number },
  ): Promise<Part | undefined>;
  /** The names of the files. */
  listArtifactKeys(request: CompositeSessionKey): Promise<string[]>;
}
