/** What the tests of exported and imported streams share. */
import {
  exportSession,
  exportSessions,
  type ExportSessionsRequest,
  importSessions,
  type ImportOutcome,
  type LinesSource,
} from '../../../../js/service/files/index.js';
import type { SessionService, StateShape } from '../../../../js/index.js';
import { says } from '../fixture.js';

export const SHOP = { appName: 'shop' };

export async function linesOf(
  service: SessionService,
  request: ExportSessionsRequest,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportSessions(service, request)) lines.push(line);
  return lines;
}

export async function imported(
  service: SessionService,
  source: LinesSource,
): Promise<ImportOutcome[]> {
  const outcomes: ImportOutcome[] = [];
  for await (const outcome of importSessions(service, source)) outcomes.push(outcome);
  return outcomes;
}

export async function fill(
  service: SessionService,
  userId: string,
  sessionIds: readonly string[],
): Promise<void> {
  for (const [at, sessionId] of sessionIds.entries()) {
    const state = { at, 'user:of': userId, 'app:motd': 'hi\nthere\u2028' };
    const request = { ...SHOP, userId, sessionId, state, lastUpdateTime: at * 1000 };
    const session = await service.createSession(request);
    await service.appendEvent({
      session,
      event: { ...says(`${sessionId}\n`), timestamp: at * 1000 },
    });
  }
}

/** All of the app, without what orders it. */
export async function whole(service: SessionService): Promise<StateShape> {
  const sessions: StateShape = {};
  const { sessions: listed } = await service.listSessions(SHOP);
  for (const { userId, id: sessionId } of listed) {
    const key = { ...SHOP, userId, sessionId };
    sessions[`${userId}/${sessionId}`] = await exportSession(service, key);
  }
  return { sessions, app: await service.getAppState(SHOP) };
}

export const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `s${at}`);
