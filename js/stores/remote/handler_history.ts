import type { Call } from '../../core/call/call.js';
import { isPlainObject } from '../../values/json/rules.js';
import { sessionNotFound } from '../../values/errors/session_not_found.js';
import type { HistoryState, SessionBranches, TurnBranches } from '../../core/history_types.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StoreHistory } from '../../core/storage/store.js';
import type { Connection, ReadResponse } from './connection/connection.js';
import { areTexts, pathTo, sendWrite } from './write_request.js';

/** Makes the verbs of histories, which the handler computes. */
export function handlerHistory(connection: Connection): StoreHistory {
  const get = async <T>(
    key: CompositeSessionKey,
    end: string,
    query: { readonly eventId?: string; readonly fromEventId?: string | undefined },
    call: Call,
    read: ReadResponse<T>,
  ): Promise<T> => {
    const request = { method: 'GET', path: pathTo(key, end), query } as const;
    const found = await connection.request(request, call, read);
    if (found === undefined) throw sessionNotFound(key.sessionId);
    return found;
  };
  return {
    rewind({ run, ...write }, call) {
      // Without an agent the message is only stored: a page edits messages also where nothing answers.
      const asked = connection.kind?.runsAgents === true ? run : undefined;
      return sendWrite(connection, { kind: 'rewind', ...write, run: asked }, call);
    },
    fork: (write, call) => sendWrite(connection, { kind: 'fork', ...write }, call),
    branches: ({ key, fromEventId }, call) =>
      get(key, '/branches', { fromEventId }, call, branchesIn),
    stateAt: ({ key, eventId }, call) => get(key, '/state', { eventId }, call, stateIn),
  };
}

const branchesIn: ReadResponse<SessionBranches> = (json) => {
  if (!isPlainObject(json)) return undefined;
  const { places, lastRewind } = json;
  const isLast = lastRewind === undefined || typeof lastRewind === 'string';
  if (!isLast || !Array.isArray(places) || !places.every(isPlace)) return undefined;
  return { places, lastRewind };
};

function isPlace(value: unknown): value is TurnBranches {
  if (!isPlainObject(value) || !Array.isArray(value.alternatives)) return false;
  return value.alternatives.every(
    (one: unknown) => isPlainObject(one) && typeof one.invocationId === 'string',
  );
}

const stateIn: ReadResponse<HistoryState> = (json) => {
  if (!isPlainObject(json)) return undefined;
  const { state, unknownKeys } = json;
  return isPlainObject(state) && areTexts(unknownKeys) ? { state, unknownKeys } : undefined;
};
