// Requests of a remote service that fail as a test says.

import type { RemoteSessionOptions } from '../../../../../js/service/remote/index.js';
import { openRemote } from '../fixture.js';

type Send = () => Promise<Response>;

/** What happens to one request. */
export type Fault = (send: Send, signal: AbortSignal) => Promise<Response>;

const OURS = { 'adk-session-protocol': '1.0' };
export const json = (value: unknown, status = 200, headers = {}) =>
  Promise.resolve(
    new Response(typeof value === 'string' ? value : JSON.stringify(value), {
      status,
      headers: { ...OURS, ...headers },
    }),
  );
const afterwards =
  (answer: () => Promise<Response>): Fault =>
  async (send) => {
    await send();
    return answer();
  };
export const brokenOff = () => Promise.reject(new TypeError('fetch failed'));
export const refused =
  (status: number, headers = {}) =>
  () =>
    json({ detail: 'later' }, status, headers);

/** Faults before or after the server has done what was asked. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'the connection breaks before the request': brokenOff,
  'the connection breaks before the response': afterwards(brokenOff),
  'the server is replaced': refused(503, { 'retry-after': '0' }),
  'a proxy gives up': afterwards(refused(504)),
  'there are too many requests': refused(429),
  'the response is not JSON': afterwards(() => json('<html>')),
  'the response is cut off': afterwards(() => json('[1,2')),
  'the response is empty': afterwards(() => json('')),
  'the response has another form': afterwards(() => json({ ok: true })),
  'the response has texts where it should have numbers': afterwards(() =>
    json([1, '2', 3, 4, 0, 0]),
  ),
  'the response has missed events of another form': afterwards(() =>
    json([1, 2, 3, 4, 0, 0, null, [[1, 2]]]),
  ),
};

/** Opens a remote service whose requests fail as `faults` says, one after the other. */
export function openFaulty(options: Partial<RemoteSessionOptions> = {}) {
  const faults: Fault[] = [];
  const sent: Request[] = [];
  const opened = openRemote();
  const fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    sent.push(request);
    const send = () => opened.handler(request.clone());
    return faults.shift()?.(send, init!.signal!) ?? send();
  };
  const { remote } = openRemote({ fetch, ...options });
  return { service: opened.service, remote, faults, sent };
}
