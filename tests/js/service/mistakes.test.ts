// Usual mistakes of programs without types, or with a cast: each is told at once, with the member that is wrong.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, injectSessionState, isSessionError } from '../../../js/index.js';
import { CachedSessionService } from '../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { sessionHandler } from '../../../js/server/index.js';
import { liveSession } from '../../../js/ui/live/index.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const OTHER = { appName: 'shop', userId: 'ada' };
const service = new InMemorySessionService();
const session = await service.createSession(KEY);
const append = (event: unknown): Promise<unknown> =>
  service.appendEvent({ session, event: event as never });
const construct = (options: unknown): unknown => new RemoteSessionService(options as never);

/** What a program does, and the beginning of the message. */
const MISTAKES: Readonly<Record<string, readonly [() => unknown, string]>> = {
  'a handler without options': [
    () => Reflect.apply(sessionHandler, undefined, [service]) as unknown,
    'authorize must be a function',
  ],
  'a handler over a promise of a service': [
    () => sessionHandler(Promise.resolve(service) as never, { authorize: () => true }),
    'service must be a session service',
  ],
  'an append without await before': [
    () => service.appendEvent({ session: service.getSession(KEY) as never, event: {} as never }),
    'session must be a session, as createSession and getSession return it; it is an instance of Promise',
  ],
  'an append to a session that was not found': [
    () => service.appendEvent({ session: undefined as never, event: {} as never }),
    'session must be a session',
  ],
  'arguments by position': [
    () => Reflect.apply(service.deleteSession.bind(service), undefined, ['s1']) as unknown,
    'The request must be an object; it is "s1"',
  ],
  "a live session's key by position": [
    () => Reflect.apply(liveSession, undefined, [service, 'shop', 'ada', 's1']) as unknown,
    'The options must be an object',
  ],
  'names in the casing of Python': [
    () => service.getSession({ app_name: 'shop', user_id: 'ada', session_id: 's1' } as never),
    'appName must be',
  ],
  'a number as the id of a user': [
    () => service.createSession({ appName: 'shop', userId: 5 as never }),
    'userId must be well-formed text',
  ],
  'a request for a page without a limit': [
    () => service.listSessions({ appName: 'shop', page: 2 }),
    'page needs a limit',
  ],
  'no event': [() => append(undefined), 'event must be an object; it is undefined'],
  'a text as an event': [() => append('Tea?'), 'event must be an object; it is "Tea?"'],
  'a Date as a time': [
    () => append({ timestamp: new Date() }),
    'event.timestamp must be milliseconds since 1970',
  ],
  'the parts as the content': [
    () => append({ content: [{ text: 'Tea?' }] }),
    'event.content must be an object; it is an array',
  ],
  'a Map in a state': [
    () => service.updateState({ ...KEY, stateDelta: { cups: new Map() } }),
    'cups is an instance of Map, which JSON does not have',
  ],
  'a frozen event': [() => append(Object.freeze({ author: 'user' })), 'event.id cannot be set'],
  'a URL in place of options': [
    () => construct('http://localhost'),
    'The options must be an object',
  ],
  'a client without a URL': [() => construct({}), 'url must be a whole http or https URL'],
  'a path in place of the address of a database': [
    () => new DatabaseSessionService('chat.db'),
    'url must be sqlite:PATH',
  ],
  'a cache whose remote is a URL': [
    () => new CachedSessionService({ remote: 'http://localhost', owner: 'ada' } as never),
    'remote must be a session service',
  ],
  'a cache without an owner': [
    () => new CachedSessionService({ remote: service, owner: undefined } as never),
    'owner must be well-formed text',
  ],
  'a Date as a filter': [
    () => service.getSession({ ...KEY, config: { afterTimestamp: new Date() as never } }),
    'config.afterTimestamp must be a number; it is an instance of Date',
  ],
  'a function in a state': [
    () => service.createSession({ ...OTHER, state: { pour: () => 1 } }),
    'pour is a function, which JSON does not have',
  ],
  'an instruction without a context': [
    () => injectSessionState('Serve {topic}', undefined as never),
    'an instruction needs a context with a state',
  ],
  'a question to nobody': [
    () => liveSession(service, KEY).ask({ role: 'user', parts: [{ text: 'Tea?' }] }),
    'Neither the page nor a server has an agent',
  ],
};

for (const [title, [act, start]] of Object.entries(MISTAKES)) {
  it(`A mistake is told: ${title}`, async () => {
    const acting = new Promise((resolve) => resolve(act()));
    await assert.rejects(acting, (error) => {
      assert.ok(isSessionError(error));
      assert.ok(error.message.startsWith(start), error.message);
      return true;
    });
    assert.deepEqual((await service.getSession(KEY))?.events, []);
  });
}
