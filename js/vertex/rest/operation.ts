/** What creates and deletes answer with: something that is done a little later. */
import type { SessionError } from '../../errors/errors.js';
import { isPlainObject } from '../../json/rules.js';
import { backoff } from '../../call/backoff.js';
import { hasStatus, refused, timedOut } from './failure.js';
import type { Json, Rest } from './rest.js';
import { FIRST_PAUSE, LONGEST_PAUSE } from './tries.js';

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

/** The pauses between questions whether something is done, until the time of a request is over. */
export class Poll {
  readonly #rest: Rest;
  readonly #end: number;
  #count = 0;

  constructor(rest: Rest) {
    this.#rest = rest;
    this.#end = Date.now() + rest.timeoutMs;
  }

  /** @throws SessionError `connection_lost` if it is not done in time */
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
