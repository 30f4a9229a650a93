import { isSessionError } from '../values/errors/errors.js';
import type { ReadOnlyDatabase } from '../service/database/read_only_database.js';
import { exportSession } from '../service/files/export/export_session.js';
import { type Line, nameOf, type Report, withReport } from './line.js';

/**
 * Reads the sessions and states of a database, one at a time.
 *
 * @param apps the apps to read; if empty, all apps
 */
export async function* databaseLines(
  database: ReadOnlyDatabase,
  apps: readonly string[],
  report: Report,
): AsyncGenerator<Line, void> {
  for (const appName of await database.apps()) {
    if (apps.length > 0 && !apps.includes(appName)) continue;
    const read = (key: object, work: () => Promise<Line | undefined>) =>
      withReport(report, nameOf({ appName, ...key }), work);
    const line = await read({ appState: {} }, async () => {
      return { appName, appState: await database.getAppState({ appName }) };
    });
    if (line !== undefined) yield line;
    for await (const userId of database.usersWithState(appName)) {
      const line = await read({ userId, userState: {} }, async () => {
        return { appName, userId, userState: await database.getUserState({ appName, userId }) };
      });
      if (line !== undefined) yield line;
    }
    for await (const key of database.sessionKeys(appName)) {
      const line = await read({ ...key, id: key.sessionId }, async () => {
        try {
          return { ...(await exportSession(database, key, { initialState: true })), appName };
        } catch (error) {
          // It was deleted after its key was listed.
          if (isSessionError(error, 'not_found')) return undefined;
          throw error;
        }
      });
      if (line !== undefined) yield line;
    }
  }
}
