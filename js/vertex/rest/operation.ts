/** Waits for the operations that create and delete requests return. */
import type { SessionError } from '../../errors/errors.js';
import { isPlainObject } from '../../json/rules.js';
import { backoff } from '../../call/backoff.js';
import { hasStatus, refused, timedOut } from './failure.js';
import type { Json, Rest } from './rest.js';
import { FIRST_PAUSE, LONGEST_PAUSE } from './tries.js';

/** The name of an operation. No segment may consist of dots alone, which would lead elsewhere in a URL's path. */
const NAME = /^(?:(?!\.+\/)[\w.:~-]+\/)*operations\/(?!\.+$)[\w.:~-]+$/;
/** HTTP statuses for the google.rpc codes that session operations end with. */
const STATUSES: Readonly<Record<number, number>> = {
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
export async function waitFor(rest: Rest, url: string, started: Json): Promise<boolean> {
  const poll = new Poll(rest);
  let operation = started;
  for (let isFirst = true; operation.done !== true; isFirst = false) {
    if (typeof operation.name !== 'string' || operation.name === '') return false;
    if (!NAME.test(operation.name)) throw rest.malformed(operation);
    if (!isFirst) await poll.pause();
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

/** Pauses between polls, until the timeout of one request is over. */
export class Poll {
  readonly #rest: Rest;
  readonly #end: number;
  #count = 0;

  constructor(rest: Rest) {
    this.#rest = rest;
    this.#end = Date.now() + rest.timeoutMs;
  }

  /** @throws SessionError `connection_lost` if the next pause would end after the timeout */
  async pause(): Promise<void> {
    const pause = backoff(this.#count, FIRST_PAUSE, LONGEST_PAUSE);
    this.#count += 1;
    if (Date.now() + pause > this.#end) throw unfinished(this.#rest.timeoutMs);
    await this.#rest.limit.pause(pause);
  }
}

function unfinished(timeoutMs: number): SessionError {
  const message =
    `Vertex AI did not finish within ${timeoutMs} ms; it may still do so. ` +
    'Look for the session, or try again.';
  return timedOut(message);
}
