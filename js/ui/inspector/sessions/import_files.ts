import type { SessionService } from '../../../values/model/session_service.js';
import { isSessionError } from '../../../values/errors/errors.js';
import { forgottenCheck } from '../../live/snapshot/forgotten.js';
import { importSession, importSessions } from '../../../service/files/index.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import { errorText } from '../view/text.js';

/** What became of the files. */
export interface ImportReport {
  readonly imported: readonly CompositeSessionKey[];
  /** A sentence for each file or line that was not imported. */
  readonly problems: readonly string[];
  /** The texts of the session files whose session exists already. */
  readonly existing: readonly string[];
}

/** Imports files: each one session, or the JSON Lines of `exportSessions`. */
export async function importFiles(
  service: SessionService,
  files: Iterable<Pick<File, 'name' | 'text'>>,
): Promise<ImportReport> {
  const imported: CompositeSessionKey[] = [];
  const problems: string[] = [];
  const existing: string[] = [];
  const requireKept = forgottenCheck(service);
  for (const file of files) {
    requireKept();
    let text = '';
    try {
      text = await file.text();
      requireKept();
      if (isStream(file.name, text)) {
        for await (const { line, error, appName, userId, sessionId } of importSessions(
          service,
          text,
        )) {
          requireKept();
          if (error !== undefined) problems.push(`${file.name}, line ${line}: ${error.message}`);
          else if (appName !== undefined && userId !== undefined && sessionId !== undefined) {
            imported.push({ appName, userId, sessionId });
          }
        }
      } else {
        const { appName, userId, id } = await importSession(service, text);
        imported.push({ appName, userId, sessionId: id });
      }
    } catch (error) {
      problems.push(`${file.name}: ${errorText(error)}`);
      if (isSessionError(error, 'already_exists')) existing.push(text);
    }
  }
  return { imported, problems, existing };
}

/**
 * Imports sessions of files beside those with their ids, under new ids. What cannot be imported is `existing` in the
 * report again, so that a second try makes no second copy of the others.
 */
export async function importCopies(
  service: SessionService,
  texts: readonly string[],
): Promise<ImportReport> {
  const imported: CompositeSessionKey[] = [];
  const problems: string[] = [];
  const existing: string[] = [];
  const requireKept = forgottenCheck(service);
  for (const text of texts) {
    requireKept();
    try {
      const options = { sessionId: newEventId(), sharedState: 'keep' } as const;
      const { appName, userId, id } = await importSession(service, text, options);
      imported.push({ appName, userId, sessionId: id });
    } catch (error) {
      problems.push(errorText(error));
      existing.push(text);
    }
  }
  return { imported, problems, existing };
}

function isStream(name: string, text: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(name) || /^\s*\{[^\n]*"format"\s*:\s*"adk-sessions"/.test(text);
}
