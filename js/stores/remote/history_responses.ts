/** Takes what a handler answers of histories; see `responses.ts`. */
import { isPlainObject } from '../../values/json/rules.js';
import type { HistoryState, SessionBranches, TurnBranches } from '../../core/history_types.js';
import type { ReadResponse } from './connection/connection.js';
import { areTexts } from './write_request.js';

export const branchesIn: ReadResponse<SessionBranches> = (json) => {
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

export const stateIn: ReadResponse<HistoryState> = (json) => {
  if (!isPlainObject(json)) return undefined;
  const { state, unknownKeys } = json;
  return isPlainObject(state) && areTexts(unknownKeys) ? { state, unknownKeys } : undefined;
};
