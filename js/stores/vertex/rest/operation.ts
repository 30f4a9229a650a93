/** Waits for the operations that create and delete requests return. */
import type { SessionError } from '../../../values/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';
import { hasStatus, timeoutError } from '../../http/http_errors.js';
import { Retries } from '../../http/retries.js';
import { statusError, VERTEX_AI } from './rest_errors.js';
import type { Rest } from './rest.js';

/** The name of an operation. No segment may consist of dots alone, which would lead elsewhere in a URL's path. */
const OPERATION_NAME = /^(?:(?!\.+\/)[\w.:~-]+\/)*operations\/(?!\.+$)[\w.:~-]+$/;
/** HTTP statuses for the google.rpc codes that session operations end with. */
const HTTP_STATUS_OF_RPC_CODE: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  14: 503,
};

/**
 * Waits for the end of an operation. Polls at once, then with growing pauses.
 *
 * The server refuses to show some operations: those of sessions whose id the caller chose. Then this returns
 * `false`, and the caller looks for the session itself.
 *
 * @param url the server's URL up to the API version
 * @returns whether it is done; `false` if the server does not show the operation
 * @throws SessionError `remote` if it failed; `connection_lost` if it does not finish in time
 */
export async function waitForOperation(
  rest: Rest,
  url: string,
  started: JsonObject,
): Promise<boolean> {
  const retries = new Retries(rest.limit, rest.timeoutMs);
  let operation = started;
  for (let isFirst = true; operation.done !== true; isFirst = false) {
    if (typeof operation.name !== 'string' || operation.name === '') return false;
    if (!OPERATION_NAME.test(operation.name)) throw rest.malformed(operation);
    if (!isFirst) await retries.beforePoll(unfinishedError(rest.timeoutMs));
    try {
      operation = await rest.get(`${url}/${operation.name}`);
    } catch (error) {
      if (hasStatus(error, 400, 403, 404)) return false;
      throw error;
    }
  }
  const { error } = operation;
  if (error === undefined || error === null) return true;
  if (!isPlainObject(error)) throw rest.malformed(operation);
  throw statusError(
    HTTP_STATUS_OF_RPC_CODE[Number(error.code)] ?? 500,
    rest.mask(JSON.stringify({ error })),
  );
}

/** Makes the error for a change that the server does not finish in time. */
export function unfinishedError(timeoutMs: number): SessionError {
  const message =
    `Vertex AI did not finish within ${timeoutMs} ms, but may still do so. ` +
    'Look for the session, or try again.';
  return timeoutError(VERTEX_AI, message);
}
