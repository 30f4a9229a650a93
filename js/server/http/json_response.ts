import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../stores/http/protocol.js';

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
export function textResponse(
  text: string,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const ownHeaders = { ...COMMON_HEADERS, 'content-type': 'application/json', ...headers };
  return new Response(text, { status, headers: ownHeaders });
}
