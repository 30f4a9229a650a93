/**
 * Sessions of a list as they lie in a browser's database: a record each, without events.
 * `src/storage/indexed_db/` writes them.
 */
import { SessionError } from '../errors.js';
import type { Session, StateShape } from '../session.js';
import type { Handles } from './handle.js';

/** What a record should be. Anything of it may have been damaged, but the ids, which are its key. */
export interface ListedRecord {
  readonly userId: string;
  readonly sessionId: string;
  readonly number?: unknown;
  readonly created?: unknown;
  readonly revision?: unknown;
  readonly lastUpdateTime?: unknown;
  /** The JSON object of the session's own state. */
  readonly state?: unknown;
}

/**
 * JSON objects of what users see beside a session's own state, with prefixes: that of a user without a
 * state, then pairs of a user's id and the one of that user.
 */
export type SharedStates = readonly [withoutUser: string, ...pairs: string[]];

/**
 * Handles for records.
 *
 * @throws SessionError `corrupt_record` naming the first that cannot be read
 */
export function openRecords<S extends StateShape>(
  records: readonly ListedRecord[],
  appName: string,
  [withoutUser, ...pairs]: SharedStates,
  handles: Handles,
): Session<S>[] {
  const ofUsers = new Map<string, string>();
  for (let index = 0; index < pairs.length; index += 2) {
    ofUsers.set(pairs[index]!, pairs[index + 1]!);
  }
  return records.map((record) => {
    const { userId, sessionId, number, created, revision, lastUpdateTime } = record;
    if (
      typeof number !== 'number' ||
      typeof created !== 'number' ||
      typeof revision !== 'number' ||
      typeof lastUpdateTime !== 'number'
    ) {
      throw damaged(record, appName, 'it is damaged');
    }
    const shared = JSON.parse(ofUsers.get(userId) ?? withoutUser) as StateShape;
    // No setter is met: the keys of the other scopes begin with their prefixes, all of them.
    const state = Object.assign(stateOf(record, appName), shared) as S;
    const head = [created, revision, lastUpdateTime] as const;
    return handles.take<S>(appName, userId, sessionId, head, state, []);
  });
}

function stateOf(record: ListedRecord, appName: string): StateShape {
  let state: unknown;
  try {
    state = JSON.parse(record.state as string);
  } catch (error) {
    throw damaged(record, appName, 'its state is not JSON', error);
  }
  if (typeof state !== 'object' || state === null || Array.isArray(state)) {
    throw damaged(record, appName, 'its state is not the JSON of an object');
  }
  return state as StateShape;
}

function damaged(
  { userId, sessionId }: ListedRecord,
  appName: string,
  reason: string,
  cause?: unknown,
): SessionError {
  const names = [sessionId, userId, appName].map((name) => JSON.stringify(name));
  const record = `session ${names[0]} of user ${names[1]} in app ${names[2]}`;
  const message = `The stored ${record} cannot be read: ${reason}.`;
  return new SessionError('corrupt_record', message, { record, cause });
}
