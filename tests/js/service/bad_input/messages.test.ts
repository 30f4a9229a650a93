// The message of a refusal names the argument and what was given, and shows no secret.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { InMemorySessionService, type StoredSessionService } from '../../../../js/index.js';
import { VertexAiSessionService } from '../../../../js/vertex/index.js';
import { begin, failure, KEY, overStorages, says, USER } from '../fixture.js';

type Call = (service: StoredSessionService) => Promise<unknown>;

const WHOLE = 'must be a whole number from';
const ID = 'must be well-formed text of 1 to 512 bytes of UTF-8';

const CALLS: [call: Call, message: string][] = [
  [(of) => of.listSessions({ ...USER, limit: 5, page: 0 }), `page ${WHOLE} 1 up; it is 0`],
  [
    (of) => of.listSessions({ ...USER, limit: -1 }),
    'limit must be a whole number from 0; it is -1.',
  ],
  [
    (of) => of.listSessions({ ...USER, offset: 1.5 }),
    `offset ${WHOLE} 0 up; it is a fraction, NaN or too large`,
  ],
  [
    (of) => of.listEvents({ ...KEY, limit: 1001 }),
    'limit must not be greater than 1000; it is 1001',
  ],
  [
    (of) => of.getSession({ ...KEY, config: { numRecentEvents: NaN } }),
    `numRecentEvents ${WHOLE} 0 up; it is a fraction, NaN or too large`,
  ],
  [
    (of) => of.listSessions({ ...USER, order: 'up' as 'asc' }),
    `order must be 'asc' or 'desc'; it is "up".`,
  ],
  [(of) => of.getSession({ ...KEY, appName: 7 as never }), `appName ${ID}; it is 7.`],
  [
    (of) => of.createSession({ ...USER, userId: 'x'.repeat(600) }),
    `userId ${ID}; it is "${'x'.repeat(40)}…" of 600 characters.`,
  ],
  [
    (of) => of.createSession({ ...USER, lastUpdateTime: -1 }),
    'lastUpdateTime must be milliseconds since 1970, 0 to 253402300799999; it is -1.',
  ],
];

overStorages('A refused argument', (open) => {
  for (const [call, message] of CALLS) {
    it(`is named with what was given: ${message.slice(0, 80)}`, async () => {
      const { service } = await begin(open);
      assert.equal((await failure(call(service), 'invalid_argument')).message, message);
    });
  }

  it('shows no value of a state', async () => {
    const { service, session } = await begin(open);
    const stateDelta = 'secret' as never;
    const event = { ...says('x'), actions: { stateDelta } } as never;
    const calls = [
      service.updateState({ ...KEY, stateDelta }),
      service.createSession({ ...USER, state: stateDelta }),
      service.appendEvent({ session, event }),
    ];
    for (const call of calls) {
      assert.doesNotMatch((await failure(call, 'invalid_argument')).message, /secret/);
    }
  });
});

it('A refused option of a service shows no token, no key and no URL', () => {
  const makers = [
    () => new DatabaseSessionService('mongo://ada:secret@host/db'),
    () => new DatabaseSessionService('postgresql://ada:secret@'),
    () => new VertexAiSessionService({ accessToken: { token: 'secret' } as never }),
    () => new VertexAiSessionService({ expressModeApiKey: ['secret'] as never }),
    () => new VertexAiSessionService({ baseUrl: 'https://ada:secret@host' }),
    () => new InMemorySessionService({ clock: 'secret' as never, onDiagnostic: {} as never }),
  ];
  for (const make of makers) {
    assert.throws(make, ({ code, message }: { code: string; message: string }) => {
      assert.doesNotMatch(message, /secret/);
      return code === 'invalid_argument';
    });
  }
});
