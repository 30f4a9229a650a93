/** Version of the protocol, which each response tells in its header {@link PROTOCOL_HEADER}. */
export const PROTOCOL_VERSION = '1';
/** Name of the header. Its presence tells a client that the server is not `adk api_server`. */
export const PROTOCOL_HEADER = 'adk-session-protocol';

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
