/** The files that clients name in messages. The handler makes the delta and the metadata of each itself. */
import { requireArtifacts } from '../../core/core_of.js';
import type { NamedFile } from '../../core/write.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { type MessageFile, messageFileOf } from '../../values/model/event/message_files.js';
import { withFiles } from '../../values/model/event/place_files.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { HttpRefusal } from '../http/responses.js';
import { markGiven } from './client_event.js';

/**
 * Returns an event of a client with its mark and its files.
 *
 * @throws HttpRefusal 403 for a file that the user has not put; SessionError `invalid_argument`,
 *   `artifact_service_missing`
 */
export async function givenWithFiles(
  service: SessionService,
  key: CompositeSessionKey & Abortable,
  event: NewEvent,
  files: readonly NamedFile[],
): Promise<NewEvent> {
  return withFiles(markGiven(event), await filesOfUser(service, key, files));
}

/**
 * Returns what is stored of files that a client names.
 *
 * @throws HttpRefusal 403 for one that the user has not put, there or not; SessionError `artifact_service_missing`
 */
export async function filesOfUser(
  service: SessionService,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
  files: readonly NamedFile[],
): Promise<MessageFile[]> {
  if (files.length === 0) return [];
  const artifacts = requireArtifacts(service);
  const found = files.map(async ({ part, name, version }): Promise<MessageFile> => {
    const key = { appName, userId, sessionId, filename: name, version };
    const stored = await artifacts.getArtifactVersion({ ...key, ...(signal && { signal }) });
    const isOfUser = stored?.author === 'user' || name.startsWith('user:');
    if (stored === undefined || !isOfUser) {
      const file = `version ${version} of ${JSON.stringify(name)}`;
      throw new HttpRefusal(403, `This request may not name ${file}, which its user has not put.`);
    }
    return messageFileOf(part, name, stored);
  });
  return Promise.all(found);
}
