import { onAbort, raceSignal, TimeLimit } from '../../../core/call/time_limit.js';
import { send } from '../../http/exchange.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { HttpConnection, RemoteRequest } from './connection.js';
import { refusalOf } from './response_error.js';

/** The most characters of an event that is not complete: a server that never ends one must not fill the memory. */
const MAX_PENDING = 2 ** 26;

/** Milliseconds without a sign of the handler, which sends one every 8 seconds. After them a stream counts as cut. */
export const SILENCE_MS = 25_000;

/** Milliseconds to wait for the body of a refusal. */
const REFUSAL_MS = 5000;

/** A response that has begun. */
export interface OpenStream {
  readonly response: Response;
  /** Removes the credentials of the request from a text. */
  readonly mask: (text: string) => string;
}

/**
 * Sends a request, once, and returns when its response begins.
 *
 * @param signal ends the request; fire it in any case, because the body of a refusal may not have ended
 * @throws SessionError the refusal, if the status is not 200; `connection_lost`, if something else than the handler has
 *   responded in its place; and what `fetch` throws
 */
export function openStream(
  connection: HttpConnection,
  request: RemoteRequest,
  signal: HostAbortSignal,
  extraHeaders?: Readonly<Record<string, string>>,
): Promise<OpenStream> {
  const open = async (): Promise<OpenStream> => {
    const { headers, mask } = await connection.credentials();
    signal.throwIfAborted();
    const http = connection.httpOf(request);
    const { fetch } = connection.options;
    const response = await send(http, { ...headers, ...extraHeaders }, signal, fetch);
    // A user's own `fetch` may ignore the signal and respond all the same.
    if (signal.aborted) await response.body?.cancel();
    signal.throwIfAborted();
    const { status, headers: received } = response;
    connection.requireHandler(status, received);
    if (status === 200) return { response, mask };
    throw refusalOf(status, received, mask(await refusalText(response)));
  };
  return raceSignal(signal, open());
}

/** Returns the body of a refusal. Returns an empty text if it does not come soon: the status is there. */
async function refusalText(response: Response): Promise<string> {
  const limit = new TimeLimit(REFUSAL_MS);
  try {
    return await limit.race(response.text());
  } catch {
    return '';
  } finally {
    limit.end();
  }
}

/**
 * Yields the data of the server-sent events in a response, and `undefined` for each comment, which shows that the
 * server is still there.
 *
 * Not by `eventsource-parser`: it drops the id of an event without data, by which a silent feed tells its position.
 *
 * @param signal ends the reading; not every `fetch` of a user's own ends the body
 * @param onId called with the id of an event after its data was taken
 * @throws an error if an event is too long or not complete; and what reading the body throws
 */
export async function* serverSentEvents(
  response: Response,
  signal: HostAbortSignal,
  onId?: (id: string) => void,
): AsyncGenerator<string | undefined, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const ignoreSignal = onAbort(signal, () => void reader.cancel().catch(() => undefined));
  const decoder = new TextDecoder();
  let data: string[] = [];
  let dataLength = 0;
  let id = '';
  let pending = '';
  let endsInReturn = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        if (signal.aborted || (pending === '' && data.length === 0)) return;
        throw new Error('it ended within an event');
      }
      const text = decoder.decode(value, { stream: true });
      // The second half of a line end that was cut.
      const isCut = endsInReturn && text.startsWith('\n');
      if (text !== '') endsInReturn = text.endsWith('\r');
      const lines = text.slice(isCut ? 1 : 0).split(/\r\n|\n|\r/);
      // Only what is new was searched: a long line comes in many pieces.
      lines[0] = pending + lines[0]!;
      pending = lines.pop()!;
      if (pending.length + dataLength > MAX_PENDING) throw new Error('an event is too long');
      for (const line of lines) {
        if (line.startsWith(':')) yield undefined;
        else if (line.startsWith('data:')) {
          data.push(line.slice(line[5] === ' ' ? 6 : 5));
          dataLength += line.length;
        } else if (line.startsWith('id:')) id = line.slice(3).trim();
        else if (line === '') {
          if (data.length > 0) yield data.join('\n');
          data = [];
          dataLength = 0;
          if (id !== '') onId?.(id);
          id = '';
        }
      }
    }
  } finally {
    ignoreSignal();
    await reader.cancel().catch(() => undefined);
  }
}
