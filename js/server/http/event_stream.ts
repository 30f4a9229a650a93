import { COMMON_HEADERS } from './json_response.js';

/** Milliseconds after which a silent stream sends a comment, so that proxies keep it open. Bun cuts it after 10 seconds. */
export const HEARTBEAT_MS = 8000;

/** Makes a response of server-sent events. */
export function eventStreamResponse(stream: ReadableStream<Uint8Array>): Response {
  return new Response(stream, {
    headers: {
      ...COMMON_HEADERS,
      'content-type': 'text/event-stream',
      // Otherwise a compression in between would hold back the events.
      'cache-control': 'private, no-cache, no-transform',
      // Otherwise nginx would hold back the events.
      'x-accel-buffering': 'no',
    },
  });
}
