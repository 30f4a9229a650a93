import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { eventOf } from './concurrency.js';
import type { Server } from '../servers.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** No call of a test lasts as long. */
const LONG = { timeoutMs: 600_000 };

/** The cause that ends an append to a suspended server, and the code of its error. */
interface Ending {
  readonly what: string;
  readonly options: object;
  readonly code: 'connection_lost' | 'aborted';
  readonly end?: (service: DatabaseSessionService, controller: AbortController) => unknown;
}

const ENDINGS: readonly Ending[] = [
  { what: 'the time limit', options: { timeoutMs: 5000 }, code: 'connection_lost' },
  { what: 'its signal', options: LONG, code: 'aborted', end: (_, signal) => signal.abort() },
  { what: 'close()', options: LONG, code: 'connection_lost', end: (service) => service.close() },
];

/** @param server called when it runs */
export function endsWhileSuspended(
  title: string,
  server: () => Server,
  newUrl: () => Promise<string>,
  open: (url: string, options: object) => DatabaseSessionService,
): void {
  describe(`An append to ${title} whose processes are stopped`, () => {
    for (const { what, options, code, end } of ENDINGS) {
      it(`ends by ${what}, and its retry is stored once`, async () => {
        const url = await newUrl();
        const service = open(url, options);
        await using other = open(url, LONG);
        await other.ping();
        const session = await service.createSession(KEY);
        const event = eventOf('e', { n: 1 });
        const controller = new AbortController();
        await server().suspend();
        try {
          const append = assert.rejects(
            service.appendEvent({ session, event, signal: controller.signal }),
            (error) => isSessionError(error, code),
          );
          // The service has sent the request by then.
          await pause(100);
          await Promise.all([append, end?.(service, controller)]);
        } finally {
          server().resume();
        }
        const isClosed = what === 'close()';
        const next = isClosed ? other : service;
        const handle = isClosed ? (await other.getSession(KEY))! : session;
        await next.appendEvent({ session: handle, event });
        await next.appendEvent({ session: handle, event: eventOf('next', { m: 1 }) });
        const stored = await other.getSession(KEY);
        assert.deepEqual(
          stored?.events.map(({ id }) => id),
          ['e', 'next'],
        );
        assert.deepEqual(stored?.state, { n: 1, m: 1 });
        await service.close();
      });
    }
  });
}
