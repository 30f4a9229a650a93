import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { asAdkService } from '../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { createEvent, InMemorySessionService, Invocation } from '../../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../../js/server/index.js';

const key = { appName: 'app', userId: 'user', sessionId: 's1' };
const session = new InMemorySessionService().createSessionSync(key);

const users: Record<string, (service: never) => unknown> = {
  Invocation: (service) => new Invocation({ service, session }),
  sessionHandler: (service) => sessionHandler(service, { authorize: () => true }),
  asAdkService,
};

describe('A value that is no service', () => {
  for (const [name, use] of Object.entries(users)) {
    it(`is refused by ${name}, also as a promise`, async () => {
      for (const service of [undefined, null, 'memory', {}, Promise.resolve()]) {
        await assert.rejects(async () => await use(service as never), {
          code: 'invalid_argument',
          key: 'service',
        });
      }
    });
  }
});

describe('The error of a wrong argument', () => {
  it('names the URL of a database', () => {
    assert.throws(() => new DatabaseSessionService(undefined as never), {
      code: 'invalid_argument',
      message: 'url must be a string, or options with a url; it is undefined.',
    });
  });

  it('names the handler of a listener', () => {
    assert.throws(() => nodeListener(undefined as never), { key: 'handler' });
  });

  it('says that a promise of a session is a promise', async () => {
    const service = new InMemorySessionService();
    const given = service.createSession(key) as never;
    await assert.rejects(service.appendEvent({ session: given, event: createEvent() }), {
      code: 'invalid_argument',
      message:
        'session must be a session, as createSession and getSession return it; it is an instance of Promise.',
    });
  });
});
