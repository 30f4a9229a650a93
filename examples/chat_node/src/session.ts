import { CachedSessionService } from 'adk-session-wasm/cache';
import type { RunAgent, SentEvent } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';

/** Opens the sessions of a user: those of the server, with a copy on this device. */
export function openSessions(owner: string): CachedSessionService {
  return new CachedSessionService({ remote: new RemoteSessionService({ url: '/api' }), owner });
}

/** Lets the agent of the server answer a message. The events are stored in this page, and sent like all others. */
export const run: RunAgent = async function* ({ signal, storeMessage }) {
  const body = JSON.stringify(await storeMessage());
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/agent', { method: 'POST', headers, body, signal });
  if (!response.ok) throw new Error(`The server answers with status ${response.status}.`);
  yield* eventsIn(response.body!);
};

/** Reads events that come as lines of JSON. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + decoder.decode(piece.value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as SentEvent;
  }
}
