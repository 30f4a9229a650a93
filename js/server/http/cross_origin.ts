import {
  CREATED_HEADER,
  OPEN_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  REVISION_HEADER,
  RUN_HEADER,
} from '../../stores/http/protocol.js';
import { HttpRefusal } from './responses.js';

/** The headers of requests that responses depend on. */
export const VARY = `Origin, ${PROTOCOL_HEADER}`;
const EXPOSED_HEADERS = `${PROTOCOL_HEADER}, ${CREATED_HEADER}, ${REVISION_HEADER}, ${RUN_HEADER}, ${OPEN_HEADER}, content-range, etag, retry-after`;
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds for which a browser may remember the answer to a preflight. */
const MAX_AGE_SECONDS = '600';

/**
 * Returns the headers that let a page of another origin read the response. They name the one origin: `*`
 * would let every page act with the user's cookies.
 *
 * @throws HttpRefusal 403 if the request comes from a page of an origin that is not allowed
 */
export function crossOriginHeaders(
  request: Request,
  allowed: ReadonlySet<string>,
): Record<string, string> {
  const origin = request.headers.get('origin');
  const vary = { vary: VARY };
  if (origin === null ? isOwnOrNoPage(request) : isSameOrigin(request, origin)) return vary;
  if (origin === null || !allowed.has(origin)) {
    throw new HttpRefusal(403, 'Pages of this origin are not allowed.', vary);
  }
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED_HEADERS,
  };
}

/** Returns the response to `OPTIONS`, also to the preflight of a browser. */
export function optionsResponse(request: Request, headers: Record<string, string>): Response {
  const requested = request.headers.get('access-control-request-headers');
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      [PROTOCOL_HEADER]: PROTOCOL_VERSION,
      allow: METHODS,
      ...(headers['access-control-allow-origin'] !== undefined && {
        'access-control-allow-methods': METHODS,
        'access-control-max-age': MAX_AGE_SECONDS,
        ...(requested !== null && { 'access-control-allow-headers': requested }),
      }),
    },
  });
}

/** A browser sends no origin with requests such as that of an image, but says which site the page is of. */
function isOwnOrNoPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  return site === 'same-origin' || site === 'none';
}

/**
 * The browser's own word decides where it is there: behind a proxy, the URL may show another scheme or host than the
 * page's.
 */
function isSameOrigin(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  return site === null ? origin === new URL(request.url).origin : site === 'same-origin';
}
