/**
 * Makes handles from listed sessions. A storage lists sessions without events, and the user and app
 * states that they share only once. Each handle gets a merged state of its own here.
 */
import { SessionError } from '../../values/errors/errors.js';
import { isPlainObject } from '../../values/json/rules.js';
import { pickMembers } from '../../values/json/pick_members.js';
import { defineMember } from '../../values/members/member.js';
import { APP_PREFIX, type SharedScope, USER_PREFIX } from '../../values/state/scope.js';
import { setDescription } from '../../values/model/description.js';
import type { Session } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ListedSession, SharedStates } from '../../core/storage/store.js';
import type { Handles } from '../../core/handle/handle.js';
import { parseJson } from '../../values/json/parse.js';

/**
 * The most values that copies of shared states may have in one list. More objects would exhaust an
 * engine's memory and end the page or process. A string counts as one value, since copies share it.
 */
const MAX_COPIED_VALUES = 2 ** 25;

/**
 * Makes handles from listed records.
 *
 * @param stateKeys the keys to put into the states; `undefined` for all
 * @throws SessionError `corrupt_record` naming the first record that cannot be read
 */
export function makeHandles<S extends object>(
  records: readonly ListedSession[],
  appName: string,
  { app: appState, users }: SharedStates,
  handles: Handles,
  stateKeys?: ReadonlySet<string>,
): Session<S>[] {
  const app = `app ${JSON.stringify(appName)}`;
  const appKeys = prefixedState(APP_PREFIX, appState, `state of ${app}`, stateKeys);
  const userKeys = new Map<string, StateShape>();
  for (const [userId, state] of users) {
    const record = `state of user ${JSON.stringify(userId)} in ${app}`;
    userKeys.set(userId, prefixedState(USER_PREFIX, state, record, stateKeys));
  }
  const copy = makeCopier();
  return records.map((record) => {
    const { userId, sessionId } = record;
    if (record.isDamaged) throw corruptSession(record, appName, 'it is damaged');
    // Vertex AI keeps the shared keys in the state of each session.
    const state = parseState(record, appName, stateKeys);
    const shared: Record<SharedScope, StateShape | undefined> = {
      user: userKeys.get(userId),
      app: appKeys,
    };
    for (const keys of Object.values(shared)) {
      for (const key of Object.keys(keys ?? {})) defineMember(state, key, copy(keys?.[key]));
    }
    const key = { appName, userId, sessionId };
    const handle = handles.open<S>(key, record, state as Partial<S>, [], { isWhole: false });
    return setDescription(handle, record);
  });
}

/** Parses the state of a user or an app, and puts the prefix before its keys. */
function prefixedState(
  prefix: string,
  text: string | undefined,
  record: string,
  stateKeys: ReadonlySet<string> | undefined,
): StateShape {
  const state = Object.create(null) as StateShape;
  if (text === undefined) return state;
  const prefixed = [...(stateKeys ?? [])].filter((key) => key.startsWith(prefix));
  const wanted = stateKeys && new Set(prefixed.map((key) => key.slice(prefix.length)));
  const stored = parseObject(text, wanted);
  if (stored instanceof SyntaxError) {
    const message = `The stored ${record} cannot be read: it is not the JSON of an object.`;
    throw new SessionError('corrupt_record', message, { record, cause: stored });
  }
  for (const key of Object.keys(stored)) state[prefix + key] = stored[key];
  return state;
}

/** Returns a function that copies JSON values, up to {@link MAX_COPIED_VALUES} values in all. */
function makeCopier(): (value: unknown) => unknown {
  let count = 0;
  return function copy(value: unknown): unknown {
    count += 1;
    if (count > MAX_COPIED_VALUES) {
      throw new SessionError(
        'quota_exceeded',
        'The sessions of this list share a state too large to copy for each; list fewer with `limit`.',
      );
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(copy);
    const copied: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      defineMember(copied, key, copy((value as Record<string, unknown>)[key]));
    }
    return copied;
  };
}

function parseState(
  record: ListedSession,
  appName: string,
  stateKeys: ReadonlySet<string> | undefined,
): StateShape {
  const state = parseObject(record.state, stateKeys);
  if (!(state instanceof SyntaxError)) return state;
  throw corruptSession(record, appName, 'its state is not the JSON of an object', state);
}

/** Parses the JSON text of an object, or only its wanted members. Returns the error if it cannot. */
function parseObject(
  text: string,
  wanted: ReadonlySet<string> | undefined,
): StateShape | SyntaxError {
  try {
    if (wanted !== undefined) return pickMembers(text, wanted);
    const value: unknown = parseJson(text);
    return isPlainObject(value) ? value : new SyntaxError('It is not an object.');
  } catch (error) {
    return error as SyntaxError;
  }
}

/** Makes the error for a listed session that cannot be read. */
export function corruptSession(
  { userId, sessionId }: ListedSession,
  appName: string,
  reason: string,
  cause?: unknown,
): SessionError {
  const names = [sessionId, userId, appName].map((name) => JSON.stringify(name));
  const record = `session ${names[0]} of user ${names[1]} in app ${names[2]}`;
  const message = `The stored ${record} cannot be read: ${reason}.`;
  return new SessionError('corrupt_record', message, { record, cause });
}
