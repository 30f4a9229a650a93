/** The files of a run: those of the session in which it began. */
import { findArtifacts } from '../../../core/core_of.js';
import { sessionNotFound } from '../../../values/errors/invalid.js';
import { ARTIFACT_METHODS, type ArtifactService } from '../../../values/model/artifact.js';
import type { Abortable, CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';

/**
 * Returns the files of a service, for one run. Once the message of the run is stored, a call that names the session of the
 * run needs a session with that message: another one with its id gets no files of the run, and gives none.
 *
 * @param messageId the id of the message
 * @param isStored whether the message is stored
 * @returns `undefined` if the service has no files
 */
export function artifactsOfRun(
  service: SessionService,
  key: CompositeSessionKey,
  messageId: string,
  isStored: () => boolean,
): Required<ArtifactService> | undefined {
  const artifacts = findArtifacts(service);
  if (artifacts === undefined) return undefined;
  const requireSession = async ({ signal }: Abortable): Promise<void> => {
    const { events } = await service.getEvents({ ...key, eventIds: [messageId], signal });
    if (events.length === 0) throw sessionNotFound(key.sessionId);
  };
  const bound: Partial<Record<keyof ArtifactService, unknown>> = {};
  for (const method of ARTIFACT_METHODS) {
    bound[method] = async (request: Partial<CompositeSessionKey> & Abortable) => {
      if (isStored() && isOf(key, request)) await requireSession(request);
      return artifacts[method](request as never);
    };
  }
  return bound as Required<ArtifactService>;
}

function isOf(key: CompositeSessionKey, request: Partial<CompositeSessionKey>): boolean {
  const { appName, userId, sessionId } = request;
  return appName === key.appName && userId === key.userId && sessionId === key.sessionId;
}
