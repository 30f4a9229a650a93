// Usual mistakes that the compiler finds.

import { type LlmAgent, Runner } from '@google/adk';
import {
  type Content,
  type Event,
  InMemorySessionService,
  type SessionService,
} from '../../js/index.js';
import { sessionHandler } from '../../js/server/index.js';
import { asAdkService } from '../../js/service/adk/index.js';
import { RemoteSessionService } from '../../js/service/remote/index.js';
import { liveSession, type RunAgent } from '../../js/ui/live/index.js';
import { describe, it } from './expect.js';
import { key, service } from './shop.js';

const content = { role: 'user', parts: [{ text: 'Tea?' }] };

describe('A mistake with a session', () => {
  it('is a write that stores nothing', async () => {
    const session = await service.createSession(key);
    // @ts-expect-error the state is written by appendEvent and updateState
    session.state.topic = 'tea';
    // @ts-expect-error a key of the state is removed by them too
    delete session.state.topic;
    // @ts-expect-error an event is appended
    session.events = [];
  });

  it('is one that may be absent, or a promise of one', async () => {
    const session = await service.getSession(key);
    const event = { invocationId: 'i1', content };
    // @ts-expect-error there may be no such session
    await service.appendEvent({ session, event });
    // @ts-expect-error await is missing
    await service.appendEvent({ session: service.createSession(key), event });
    // @ts-expect-error it is not an array
    session?.state.cart?.push(5);
  });

  it('is an argument by position, or a name of Python', async () => {
    const session = await service.createSession(key);
    // @ts-expect-error one object has both
    await service.appendEvent(session, { invocationId: 'i1' });
    // @ts-expect-error a request is an object
    await service.getSession('shop', 'ada', 's1');
    // @ts-expect-error camelCase
    await service.getSession({ app_name: 'shop', user_id: 'ada', session_id: 's1' });
    // @ts-expect-error a session belongs to a user
    await service.createSession({ appName: 'shop' });
    // @ts-expect-error an id is a text
    await service.createSession({ appName: 'shop', userId: 5 });
  });

  it('is a state or an event of another type', async () => {
    const session = await service.createSession(key);
    // @ts-expect-error the topic is a text
    await service.createSession({ ...key, state: { topic: 5 } });
    // @ts-expect-error no such key
    await service.updateState({ ...key, stateDelta: { topik: 'tea' } });
    // @ts-expect-error a time is a number
    await service.appendEvent({ session, event: { invocationId: 'i1', timestamp: new Date() } });
    // @ts-expect-error content has parts
    await service.appendEvent({ session, event: { invocationId: 'i1', content: [{ text: 'a' }] } });
    // @ts-expect-error a text is in a part
    const event: Partial<Event> = { content: { role: 'user', text: 'Tea?' } };
    void event;
  });
});

describe('A mistake with a server or a page', () => {
  it('is an option that is missing, or of another type', () => {
    const plain: SessionService = new InMemorySessionService();
    // @ts-expect-error somebody has to decide who may do what
    sessionHandler(plain);
    // @ts-expect-error likewise
    sessionHandler(plain, { basePath: '/api' });
    // @ts-expect-error await is missing
    sessionHandler(Promise.resolve(plain), { authorize: () => true });
    // @ts-expect-error the options are an object
    new RemoteSessionService('http://localhost');
    // @ts-expect-error a client needs an address
    new RemoteSessionService({});
    // @ts-expect-error a key is an object
    liveSession(plain, 'shop', 'ada', 's1');
  });

  it('is content that no model takes', async () => {
    const chat = liveSession(service, key);
    const given: Content = content;
    for (const said of [content, given, 'Tea?']) await chat.ask(said);
    await chat.ask({ role: 'user', parts: [{ text: 'Tea?' }, { fileData: { fileUri: 'a' } }] });
    await chat.ask({ parts: [] }, { files: [] });
    await chat.edit('e1', given);
    await chat.send({ content: given });
    await chat.send({ author: 'user', invocationId: 'i1' });
    const parts = [{ text: 'Tea?' }];
    // @ts-expect-error the role of another API
    await chat.ask({ role: 'assistant', parts });
    // @ts-expect-error likewise
    await chat.edit('e1', { role: 'system', parts });
    // @ts-expect-error likewise
    await chat.send({ content: { role: 'assistant', parts } });
    // @ts-expect-error a part says something
    await chat.ask({ role: 'user', parts: [{}] });
    // @ts-expect-error likewise
    await chat.send({ content: { role: 'user', parts: [{}] } });
  });

  it('is a Runner over a service that asAdkService has not made', () => {
    const runner = { appName: 'shop', agent: {} as LlmAgent };
    new Runner({ ...runner, sessionService: asAdkService(service) });
    const plain: SessionService = new InMemorySessionService();
    // @ts-expect-error updateSessionState is missing
    new Runner({ ...runner, sessionService: plain });
    // @ts-expect-error likewise
    new Runner({ ...runner, sessionService: service });
  });

  it('is an agent that yields no events', () => {
    // @ts-expect-error a text is no event
    const texts: RunAgent = async function* () {
      yield await Promise.resolve('Tea!');
    };
    // @ts-expect-error an agent is an async generator
    const promise: RunAgent = async () => Promise.resolve({ content });
    void [texts, promise];
  });
});
