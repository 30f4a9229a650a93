import { ownMembers } from '../members/own.js';
import type { CallLimit } from './call_limit.js';
import { connectionError, type HttpServer, timeoutReason } from './http_errors.js';

/** A request of a call. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/** A response that was read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/**
 * Sends one request and reads its response. A request that is not a GET ends the caller's right to abort.
 *
 * @throws SessionError `connection_lost` if there is no response, or not all of it
 */
export async function exchange(
  server: HttpServer,
  limit: CallLimit,
  timeoutMs: number,
  { method, url, body, headers = {}, fetch: send = fetch }: HttpRequest,
): Promise<HttpResponse> {
  if (method !== 'GET') limit.beginWrite();
  try {
    return await limit.runPart(timeoutMs, timeoutReason, async (signal) => {
      // `fetch` would read inherited members as well.
      const request = ownMembers({
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        signal,
        // No other server may receive the credentials.
        redirect: 'manual' as const,
        ...(body !== undefined && { body }),
      });
      const response = await send(url, request);
      // A user's own `fetch` may return something else than a response.
      return {
        status: response.status,
        text: String(await response.text()),
        headers: new Headers(response.headers),
      };
    });
  } catch (cause) {
    throw connectionError(server, cause, timeoutMs);
  }
}
