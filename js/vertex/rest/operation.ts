/** What creates and deletes answer with: something that is done a little later. */
import type { SessionError } from '../../errors.js';
import { isPlainObject } from '../../json/rules.js';
import { hasStatus, refused, timedOut } from './failure.js';
import type { Json, Rest } from './rest.js';

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 1600;
/** A name of segments, none of which leads elsewhere in a URL's path. */
const NAME = /^(?:(?!\.+\/)[\w.:~-]+\/)*operations\/(?!\.+$)[\w.:~-]+$/;
/** HTTP's statuses for those of google.rpc.Code that the sessions' operations end with. */
const STATUSES: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  14: 503,
};

/**
 * Waits for the end of an operation; asks at once, then more and more rarely.
 *
 * The server refuses to tell of some: of those for sessions whose id the caller chose. Then nothing is waited
 * for, and whoever called looks for the session itself.
 *
 * @param url up to the API's version
 * @returns whether it is done; `false`, where the server does not tell
 * @throws SessionError `remote` if it failed; `connection_lost` if it is not done in time
 */
export async function waitFor(rest: Rest, url: string, started: Json): Promise<boolean> {
  const end = Date.now() + rest.timeoutMs;
  let operation = started;
  for (let wait = 0; operation.done !== true; wait = nextPause(wait)) {
    if (typeof operation.name !== 'string' || operation.name === '') return false;
    if (Date.now() + wait > end) throw unfinished(rest.timeoutMs);
    if (!NAME.test(operation.name)) throw rest.malformed(operation);
    if (wait > 0) await rest.limit.pause(wait);
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
  throw refused(STATUSES[Number(error.code)] ?? 500, rest.masked(JSON.stringify({ error })));
}

export function nextPause(last: number): number {
  return last === 0 ? FIRST_PAUSE : Math.min(last * 2, LONGEST_PAUSE);
}

export function unfinished(timeoutMs: number): SessionError {
  const message =
    `Vertex AI did not finish within ${timeoutMs} ms; it may still do so. ` +
    'Look for the session, or try again.';
  return timedOut(message);
}
