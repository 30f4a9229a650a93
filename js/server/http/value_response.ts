import { COMMON_HEADERS, textResponse } from './json_response.js';

/**
 * Makes the response for the JSON text of a route's value. A `GET` is answered with an `ETag`, and with status 304 if the
 * client has the same value already.
 *
 * The tag is a hash of the whole response. The session's revision alone would not do: a change of `app:` or
 * `user:` state changes what the session shows, but not its revision.
 */
export async function valueResponse(
  request: Request,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return textResponse(text, 200, headers);
  const etag = await etagOf(text);
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
function hasTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
