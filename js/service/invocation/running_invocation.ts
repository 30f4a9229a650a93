import type { ArtifactService } from '../../values/model/artifact.js';
import type { Content } from '../../values/model/event/content.js';
import type { Session } from '../../values/model/session.js';
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
