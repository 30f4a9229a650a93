import type { Call } from '../call/call.js';
import { REVISION_HEADER } from '../http/protocol.js';
import { isPlainObject } from '../json/rules.js';
import { sessionNotFound } from '../errors/session_not_found.js';
import type {
  HistoryState,
  SessionBranches,
  StoredRewind,
  TurnBranches,
} from '../core/history_verbs.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { BackendHistory, BackendWrite } from '../storage/backend.js';
import { isRevision } from '../storage/checked_rows.js';
import { isEvent } from '../storage/stored_events.js';
import type { Connection, ReadResponse } from './connection/connection.js';
import { sessionReader } from './responses.js';
import { pathTo } from './server_backend.js';

/** Makes the verbs of histories, which the handler computes. Their requests may be repeated: they have the new ids. */
export function handlerHistory(connection: Connection): BackendHistory {
  const post = async <T>(
    path: string,
    body: object,
    { call, operation }: BackendWrite,
    read: ReadResponse<T>,
  ): Promise<T> => {
    const text = JSON.stringify(body);
    const request = { method: 'POST', path, body: text, isIdempotent: true, operation } as const;
    return (await connection.request(request, call, read))!;
  };
  const get = async <T>(
    key: CompositeSessionKey,
    end: string,
    query: { readonly eventId?: string },
    call: Call,
    read: ReadResponse<T>,
  ): Promise<T> => {
    const request = { method: 'GET', path: pathTo(key, end), query } as const;
    const found = await connection.request(request, call, read);
    if (found === undefined) throw sessionNotFound(key.sessionId);
    return found;
  };
  return {
    rewind: ({ key, marker, place, message, events, ...write }) =>
      post(pathTo(key, '/rewind'), { marker, place, message, events }, write, rewoundIn),
    fork: ({ key, newSessionId, end, title, ...write }) => {
      const forked = sessionReader({ ...key, sessionId: newSessionId });
      return post(pathTo(key, '/fork'), { newSessionId, ...end, title }, write, forked);
    },
    branches: ({ key, call }) => get(key, '/branches', {}, call, branchesIn),
    stateAt: ({ key, eventId, call }) => get(key, '/state', { eventId }, call, stateIn),
  };
}

const rewoundIn: ReadResponse<StoredRewind> = (json, headers) => {
  if (!isPlainObject(json)) return undefined;
  const { event, message, unknownKeys } = json;
  const revision = Number(headers.get(REVISION_HEADER) ?? NaN);
  const isRewound =
    isEvent(event) &&
    (message === undefined || isEvent(message)) &&
    areTexts(unknownKeys) &&
    isRevision(revision);
  return isRewound ? { event, message, unknownKeys, revision } : undefined;
};

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

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
