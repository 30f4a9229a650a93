import type { Operation } from '../operation.js';
import type { Rules } from './apply.js';
import { mergedState, type ModelSession, textOfSession, type World } from './world.js';

/** The result of `listSessions`. */
export function listText(
  world: World,
  { appName, userId, order, limit, page }: Operation & { kind: 'list' },
  { hasExactTimes }: Rules,
): string {
  const found = [...world.sessions.values()]
    .filter(({ key }) => key.appName === appName && key.userId === (userId ?? key.userId))
    .sort(byTime);
  if (order === 'desc') found.reverse();
  const start = limit === undefined ? 0 : (page - 1) * limit;
  const listed = limit === undefined ? found : found.slice(start, start + limit);
  const texts = listed.map((session) =>
    textOfSession(session.key, session.lastUpdateTime, mergedState(world, session), []),
  );
  return textOfList(texts, found.length, hasExactTimes);
}

/** The canonical text of a list. Without exact times, the order is unknown and not compared. */
export function textOfList(
  sessions: readonly string[],
  total: number,
  hasExactTimes: boolean,
): string {
  return `${total}: ${(hasExactTimes ? sessions : [...sessions].sort()).join('\n')}`;
}

function byTime(one: ModelSession, other: ModelSession): number {
  return (
    one.lastUpdateTime - other.lastUpdateTime ||
    compare(one.key.sessionId, other.key.sessionId) ||
    compare(one.key.userId, other.key.userId)
  );
}

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);
