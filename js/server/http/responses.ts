/** The responses of the handler: values, streams of events, refusals and errors. */
import { EVENT_STREAM, PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../stores/http/protocol.js';
import { isSessionError, type SessionError } from '../../values/errors/errors.js';
import { publicDetail, publicErrorOf, statusOf } from '../../values/errors/public_error.js';

/** Headers of every response. A browser may keep one, but asks before it uses it again. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  [PROTOCOL_HEADER]: PROTOCOL_VERSION,
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
};

/** Makes a response with a JSON body. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return textResponse(JSON.stringify(value), status, headers);
}

/** Makes a response whose body is JSON text. */
function textResponse(
  text: string,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const ownHeaders = { ...COMMON_HEADERS, 'content-type': 'application/json', ...headers };
  return new Response(text, { status, headers: ownHeaders });
}

/**
 * Makes the response for the JSON text of a route's value. A `GET` is answered with an `ETag`, and with status 304 if
 * the client has the same value already.
 *
 * The tag is that of the headers, or a hash of the whole response. The session's revision alone would not do: a change of `app:` or
 * `user:` state changes what the session shows, but not its revision.
 */
export async function valueResponse(
  request: Request,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return textResponse(text, 200, headers);
  const { etag = await etagOf(text) } = headers;
  if (hasTag(request.headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { ...COMMON_HEADERS, ...headers, etag } });
  }
  return textResponse(text, 200, { ...headers, etag });
}

async function etagOf(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const digits = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0'));
  return `"${digits.join('')}"`;
}

/** Compares as RFC 9110 says for `If-None-Match`: a proxy may have marked the tag as weak. */
export function hasTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/**
 * Milliseconds after which a silent stream sends a comment, so that proxies keep it open. Bun cuts it after 10 seconds.
 */
export const HEARTBEAT_MS = 8000;

/** Makes a response of server-sent events. */
export function eventStreamResponse(
  stream: ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(stream, {
    headers: {
      ...COMMON_HEADERS,
      ...headers,
      'content-type': EVENT_STREAM,
      // Otherwise a compression in between would hold back the events.
      'cache-control': 'private, no-cache, no-transform',
      // Otherwise nginx would hold back the events.
      'x-accel-buffering': 'no',
    },
  });
}

/** A request that is refused by the rules of HTTP or by `authorize`, before a service is asked. */
export class HttpRefusal extends Error {
  /** Status of the response. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Code in the body of the response. */
  readonly code: string | undefined;

  /** @param message a sentence that strangers may read */
  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    code?: string,
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

/** Seconds after which a client may try again, for `Retry-After`. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Makes the response for whatever a request threw: `{"detail": "…"}` as from `adk api_server`, and for errors
 * of the service also their `code` and, if the client can mend them, their fields.
 */
export function errorResponse(error: unknown): Response {
  const refusal = refusalIn(error);
  if (refusal !== undefined) {
    const { message: detail, code, status, headers } = refusal;
    return jsonResponse({ detail, code }, status, headers);
  }
  if (isSessionError(error, 'run_failed')) {
    const { message: detail, ...told } = publicErrorOf(error);
    return jsonResponse({ detail, ...told }, statusOf('run_failed'));
  }
  if (!isSessionError(error)) return jsonResponse({ detail: publicDetail(500) }, 500);
  const status = statusOf(error.code);
  const headers = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  return jsonResponse(errorBody(error, publicDetail(status)), status, headers);
}

/** Returns a refusal, also one that the stream of a put has thrown: then it is the cause of the put's error. */
function refusalIn(error: unknown): HttpRefusal | undefined {
  if (error instanceof HttpRefusal) return error;
  const cause = isSessionError(error) ? error.cause : undefined;
  return cause instanceof HttpRefusal ? cause : undefined;
}

/** Returns whether an error is the server's fault, so that its operator gets it. */
export function isServerFault(error: unknown): boolean {
  if (refusalIn(error) !== undefined) return false;
  return !isSessionError(error) || publicDetail(statusOf(error.code)) !== undefined;
}

function errorBody(error: SessionError, publicDetail: string | undefined): object {
  const { code } = error;
  if (publicDetail !== undefined) return { detail: publicDetail, code };
  const body = { detail: error.message, ...error.toJSON() } as Record<string, unknown>;
  delete body.name;
  delete body.message;
  return body;
}
