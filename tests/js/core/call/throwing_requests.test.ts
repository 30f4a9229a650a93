import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, isSessionError } from '../../../../js/index.js';
import { METHODS } from '../../service/bad_input/rows.js';
import { KEY } from '../../service/fixture.js';

const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** Anything can be thrown, and it may throw again when its message is read. */
const THROWN = [
  ['an error', new TypeError('no name today')],
  ['a text', 'no name today'],
  ['a revoked proxy', revoked.proxy],
  [
    'an error whose message throws',
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no message today');
      },
    }),
  ],
] as const;

describe('A request whose own code throws', () => {
  for (const method of [...METHODS, 'appendEvent', 'appendEvents'] as const) {
    for (const [what, thrown] of THROWN) {
      it(`is refused by ${method} with invalid_argument if ${what} throws`, async () => {
        const service = new InMemorySessionService();
        const request = Object.defineProperty({ ...KEY }, 'appName', {
          get() {
            throw thrown;
          },
        });
        const call = service as unknown as Record<string, (request: unknown) => Promise<unknown>>;
        const handle = { session: request, event: {}, events: [{}] };
        const isAppend = method.startsWith('append');
        const answer = call[method]?.(isAppend ? handle : request);
        await assert.rejects(answer ?? Promise.resolve(), (error) =>
          isSessionError(error, 'invalid_argument'),
        );
        await service.createSession(KEY);
      });
    }
  }
});
