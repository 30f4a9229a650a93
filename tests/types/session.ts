import {
  type Abortable,
  type AppendEventRequest,
  type AppendEventsRequest,
  type AppRequest,
  type BaseSessionService,
  type ChangesSince,
  type CompositeSessionKey,
  type Content,
  createEvent,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type DeleteSessionsOptions,
  type DeleteSessionsRequest,
  type Event,
  type EventActions,
  type EventsPage,
  type EventsRequest,
  type GetEventsRequest,
  type StoredEvents,
  type GetSessionConfig,
  type GetSessionRequest,
  InMemorySessionService,
  Invocation,
  type ListChangesRequest,
  type ListEventsRequest,
  type ListSessionsRequest,
  type ListSessionsTotalRequest,
  type ListSessionsResponse,
  type NewEvent,
  type SessionsPage,
  openSessionService,
  type Session,
  State,
  type StateShape,
  type StorageInfo,
  type SessionChanges,
  type SessionInfo,
  type SessionInfoRequest,
  type SessionService,
  type SessionsRequest,
  type TokenUsage,
  type UpdateStateRequest,
  type UserRequest,
  type WatchOptions,
  type WatchRequest,
} from '../../js/index.js';
import { VertexAiSessionService } from '../../js/service/vertex/index.js';
import { compiled, describe, is, it } from './expect.js';
import { key, service, type Shop } from './shop.js';

describe('A session service with a state type', () => {
  it('returns sessions whose state has that type', async () => {
    {
      const created = await service.createSession({ appName: 'shop', userId: 'ada' });
      const read = await service.getSession(key);
      const listed = await service.listSessions(key);
      const handle = await service.getOrCreateSession(key);
      is<Session<Shop>>()(created);
      is<Session<Shop> | undefined>()(read);
      is<ListSessionsResponse<Shop>>()(listed);
      is<SessionsPage<Shop>>()(await service.listSessions({ ...key, withTotal: false }));
      // @ts-expect-error there may be no total
      is<ListSessionsResponse<Shop>>()(await service.listSessions({ ...key, withTotal: false }));
      is<Session<Shop>>()(handle);
      is<{ readonly [Key in keyof Shop]?: Shop[Key] }>()(created.state);
      is<string | undefined>()(created.state.topic);
      is<number | undefined>()(created.state['user:visits']);
      // @ts-expect-error the key may be absent
      created.state.cart.push('tea');
      // @ts-expect-error a number is no text
      created.state.topic = 5;
      // @ts-expect-error it may not be there
      void read.state;
    }
  });

  it('accepts a part of the type as initial state', async () => {
    {
      await service.createSession({ ...key, state: { topic: 'tea' } });
      await service.createSession({ ...key, state: {} });
      // @ts-expect-error a number is no text
      await service.createSession({ ...key, state: { topic: 5 } });
      // @ts-expect-error the shape has no such key
      await service.createSession({ ...key, state: { topik: 'tea' } });
    }
  });

  it('tells what a session holds', async () => {
    {
      const info = await service.sessionInfo(key);
      is<SessionInfo<Shop>>()(info);
      is<Partial<Shop> | undefined>()(info.initialState);
      is<number | undefined>()(info.createTime);
      is<TokenUsage | undefined>()(info.usage['gemini-2.5-flash']);
      is<number>()(info.bytes);
      // @ts-expect-error a session that is named by its id alone
      await service.sessionInfo({ sessionId: 's1' });
      // @ts-expect-error options are of this kind
      new InMemorySessionService({ autoTitle: 'yes' });
      // @ts-expect-error a time of Vertex AI's sessions alone
      await service.updateSession(key, { ttl: '86400s' });
      // @ts-expect-error a time of Vertex AI's sessions alone
      await service.createSession({ ...key, expireTime: '2030-01-31T12:00:00Z' });
      const engine = new VertexAiSessionService();
      await engine.createSession({ ...key, expireTime: '2030-01-31T12:00:00Z' });
      await engine.updateSession(key, { ttl: '86400s' });
      // @ts-expect-error seconds as text
      await engine.updateSession(key, { ttl: 86_400 });
      // @ts-expect-error times as text
      await engine.createSession({ ...key, expireTime: new Date() });
    }
  });

  it('has synchronous methods of the same types', async () => {
    {
      is<Session<Shop>>()(service.createSessionSync(key));
      is<Session<Shop> | undefined>()(service.getSessionSync(key));
      is<ListSessionsResponse<Shop>>()(service.listSessionsSync(key));
      is<void>()(service.deleteSessionSync(key));
    }
  });

  it('gives a function that computes a delta the state, and accepts a delta of it', async () => {
    {
      await service.updateState({
        ...key,
        stateDelta: (state) => {
          is<Partial<Shop>>()(state);
          return { 'user:visits': (state['user:visits'] ?? 0) + 1, topic: undefined };
        },
      });
      await service.updateState({ ...key, stateDelta: () => ({}) });
      // @ts-expect-error a text is no number
      await service.updateState({ ...key, stateDelta: () => ({ 'user:visits': 'one' }) });
      // @ts-expect-error the shape has no such key
      await service.updateState({ ...key, stateDelta: () => ({ visit: 1 }) });
      // @ts-expect-error the key may be absent
      await service.updateState({ ...key, stateDelta: ({ topic }) => ({ topic: topic.trim() }) });
      // @ts-expect-error it returns no delta
      await service.updateState({ ...key, stateDelta: () => undefined });
      // @ts-expect-error it waits
      await service.updateState({ ...key, stateDelta: async () => Promise.resolve({}) });
    }
  });

  it('fits where a service of any state is expected', async () => {
    {
      const any: SessionService = service;
      return any;
    }
  });

  it('has methods that can be called by a name of several', async () => {
    compiled((method: 'updateState' | 'getUserState' | 'createSession') =>
      service[method]({ ...key, stateDelta: {} }),
    );
  });

  it('returns the event that it was given', async () => {
    {
      const session = await service.createSession(key);
      const given: Event = createEvent();
      const event = await service.appendEvent({ session, event: given });
      const events = await service.appendEvents({ session, events: [event] });
      const stored: Event[] = [event, ...events];
      // @ts-expect-error no session
      await service.appendEvent({ event });
      // @ts-expect-error a session of another shape
      await service.appendEvent({ session: { ...session, state: { topic: 5 } }, event });
      return stored;
    }
  });

  it('fills in members that are given as undefined', async () => {
    {
      const session = await service.createSession(key);
      const filled = await service.appendEvent({
        session,
        event: { invocationId: 'e1', id: undefined, timestamp: undefined, rating: 5 },
      });
      is<string>()(filled.id);
      is<number>()(filled.timestamp);
      is<EventActions>()(filled.actions);
      is<number>()(filled.rating);
      is<string>()(filled.invocationId);
      const [first] = await service.appendEvents({
        session,
        events: [{ invocationId: 'e1', actions: undefined }],
      });
      is<EventActions | undefined>()(first?.actions);
      return filled;
    }
  });

  it("fills in an event's id, timestamp and actions, and keeps its other members' types", async () => {
    {
      const session = await service.createSession(key);
      const event = await service.appendEvent({
        session,
        event: { invocationId: 'e1', author: 'user', rating: 5 },
      });
      is<string>()(event.id);
      is<number>()(event.timestamp);
      is<EventActions>()(event.actions);
      is<number>()(event.rating);
      is<string>()(event.author);
      const whole: Event = event;
      const said = { invocationId: 'e1', content: 'Which tea?', rating: 5 };
      const { content, rating } = await service.appendEvent({ session, event: said });
      is<Content | undefined>()(content);
      is<number>()(rating);
      // @ts-expect-error a number is no content
      await service.appendEvent({ session, event: { invocationId: 'e1', content: 5 } });
      const [first] = await service.appendEvents({ session, events: [{ invocationId: 'e1' }] });
      is<string | undefined>()(first?.id);
      const given: { invocationId: string; id?: string | undefined } = { invocationId: 'e1' };
      is<string>()((await service.appendEvent({ session, event: given })).id);
      interface Rated extends Event {
        rating: number;
      }
      const rated: Rated = await service.appendEvent({ session, event: {} as Rated });
      // @ts-expect-error an event belongs to an invocation
      await service.appendEvent({ session, event: { author: 'user' } });
      // @ts-expect-error a number is no text
      await service.appendEvent({ session, event: { invocationId: 'e1', author: 5 } });
      // @ts-expect-error these are not all actions
      await service.appendEvent({ session, event: { invocationId: 'e1', actions: { escalate: true } } }); // prettier-ignore
      return [whole, rated];
    }
  });

  it('changes state of that type', async () => {
    {
      await service.updateState({ ...key, stateDelta: { topic: 'tea', 'user:visits': undefined } });
      await service.updateState({ ...key, stateDelta: { topic: State.REMOVED } });
      // @ts-expect-error a number is no text
      await service.updateState({ ...key, stateDelta: { topic: 5 } });
      // @ts-expect-error the shape has no such key
      await service.updateState({ ...key, stateDelta: { topik: 'tea' } });
      await new InMemorySessionService().updateState({ ...key, stateDelta: { any: 1 } });
    }
  });

  it('lists the keys of that type', async () => {
    {
      const { sessions } = await service.listSessions({ ...key, stateKeys: ['topic'] });
      is<Session<Shop>[]>()(sessions);
      // @ts-expect-error the shape has no such key
      await service.listSessions({ ...key, stateKeys: ['topik'] });
      is<string | undefined>()(
        (await service.listSessions({ ...key, cursor: 'c', limit: 1 })).nextCursor,
      );
      is<SessionsPage<Shop>>()(
        await service.listSessions({ ...key, labels: { a: 'b' }, title: 't' }),
      );
      for await (const session of service.sessions({
        ...key,
        order: 'desc',
        stateKeys: ['topic'],
      })) {
        is<Session<Shop>>()(session);
      }
      // @ts-expect-error a walk has no cursor
      service.sessions({ ...key, cursor: 'c' });
      await new InMemorySessionService().listSessions({ ...key, stateKeys: ['any'] });
    }
  });

  it('is accepted where a service or session of any state is', async () => {
    {
      const plain: SessionService = service;
      const session: Session = await service.createSession(key);
      const invocation = new Invocation({ service: plain, session });
      return [invocation, service.revisionOf(session)];
    }
  });

  it('can be extended by a class with methods of any name', async () => {
    {
      class Shops extends InMemorySessionService<Shop> {
        get = (): string => 'mine';
        create = (): number => 1;
        delete(): boolean {
          return true;
        }
        list(): string[] {
          return [];
        }
        take(): void {
          return;
        }
      }
      is<string>()(new Shops().get());
      // @ts-expect-error the service has no such method
      void new InMemorySessionService().take;
    }
  });

  it('can have no state type', async () => {
    {
      const plain = new InMemorySessionService();
      const session = await plain.createSession({ ...key, state: { anything: [1, { a: null }] } });
      is<Readonly<Record<string, unknown>>>()(session.state);
      const session2: Session = session;
      await plain.appendEvent({ session: session2, event: createEvent() });
    }
  });

  it('requires the names of app and user', async () => {
    {
      // @ts-expect-error userId is missing
      await service.createSession({ appName: 'shop' });
      // @ts-expect-error sessionId is missing
      await service.getSession({ appName: 'shop', userId: 'ada' });
      // @ts-expect-error Python's names are not accepted
      await service.createSession({ app_name: 'shop', user_id: 'ada' });
      // @ts-expect-error 'id' is no time
      await service.listSessions({ appName: 'shop', orderBy: 'id' });
      // @ts-expect-error 'up' is no order
      await service.listSessions({ appName: 'shop', order: 'up' });
    }
  });
});

describe('SessionService', () => {
  it('is implemented by every service', async () => {
    const services: SessionService<Shop>[] = [service];
    const plain: SessionService[] = [new InMemorySessionService()];
    {
      const opened: SessionService<Shop> = await openSessionService<Shop>({
        storage: 'memory',
      });
      const stored: SessionService<Shop> = service;
      return [opened, stored];
    }
  });

  it('can be implemented by others, over any service', async () => {
    {
      class Logged implements SessionService {
        readonly #inner = new InMemorySessionService();
        readonly storage: StorageInfo = { kind: 'logged', durable: false };
        createSession = (request: CreateSessionRequest): Promise<Session> => this.#inner.createSession(request); // prettier-ignore
        getSession = (request: GetSessionRequest): Promise<Session | undefined> => this.#inner.getSession(request); // prettier-ignore
        getOrCreateSession = (request: CreateSessionRequest): Promise<Session> => this.#inner.getOrCreateSession(request); // prettier-ignore
        listSessions = (request: ListSessionsTotalRequest): Promise<ListSessionsResponse> => this.#inner.listSessions(request); // prettier-ignore
        sessions = (request: SessionsRequest) => this.#inner.sessions(request);
        deleteSession = (request: DeleteSessionRequest): Promise<void> => this.#inner.deleteSession(request); // prettier-ignore
        deleteSessions = (request: DeleteSessionsRequest, options?: DeleteSessionsOptions): Promise<number> => this.#inner.deleteSessions(request, options); // prettier-ignore
        appendEvent = <E extends NewEvent>(request: AppendEventRequest<StateShape, E>) => this.#inner.appendEvent(request); // prettier-ignore
        appendEvents = <E extends NewEvent>(request: AppendEventsRequest<StateShape, E>) => this.#inner.appendEvents(request); // prettier-ignore
        updateSession = (key: CompositeSessionKey & Abortable, changes: SessionChanges): Promise<void> => this.#inner.updateSession(key, changes); // prettier-ignore
        sessionInfo = (request: SessionInfoRequest): Promise<SessionInfo> => this.#inner.sessionInfo(request); // prettier-ignore
        listEvents = (request: ListEventsRequest): Promise<EventsPage> => this.#inner.listEvents(request); // prettier-ignore
        getEvents = (request: GetEventsRequest): Promise<StoredEvents> => this.#inner.getEvents(request); // prettier-ignore
        events = (request: EventsRequest) => this.#inner.events(request);
        loadOlder = (session: Session, limit?: number): Promise<boolean> => this.#inner.loadOlder(session, limit); // prettier-ignore
        listChanges = (request: ListChangesRequest): Promise<ChangesSince> => this.#inner.listChanges(request); // prettier-ignore
        watch = ((request: WatchRequest, options?: WatchOptions) => this.#inner.watch(request, options)) as SessionService['watch']; // prettier-ignore
        revisionOf = (session: Session): number | undefined => this.#inner.revisionOf(session);
        ping = (request?: Abortable): Promise<void> => this.#inner.ping(request);
        updateState = (request: UpdateStateRequest): Promise<void> => this.#inner.updateState(request); // prettier-ignore
        getUserState = (request: UserRequest): Promise<StateShape> => this.#inner.getUserState(request); // prettier-ignore
        getAppState = (request: AppRequest): Promise<StateShape> => this.#inner.getAppState(request); // prettier-ignore
        deleteUser = (request: UserRequest): Promise<void> => this.#inner.deleteUser(request);
        deleteUserState = (request: UserRequest): Promise<void> => this.#inner.deleteUserState(request); // prettier-ignore
        deleteAppState = (request: AppRequest): Promise<void> => this.#inner.deleteAppState(request); // prettier-ignore
        close = (): Promise<void> => this.#inner.close();
        [Symbol.asyncDispose] = (): Promise<void> => this.close();
      }
      return new Invocation({ service: new Logged(), session: {} as Session });
    }
  });

  it('accepts a signal in every request, even an undefined one', async () => {
    {
      const signal = undefined as AbortSignal | undefined;
      const session = {} as Session;
      const plain: SessionService = new InMemorySessionService();
      const request = { ...key, signal };
      await plain.createSession(request);
      await plain.getSession(request);
      await plain.listSessions(request);
      await plain.deleteSession(request);
      await plain.appendEvent({ session, event: createEvent(), signal });
      await plain.appendEvents({ session, events: [], signal });
      await plain.updateState({ ...request, stateDelta: {} });
      await plain.getUserState(request);
      await plain.deleteAppState(request);
    }
  });

  it('deletes many sessions', async () => {
    {
      const signal = AbortSignal.timeout(1);
      const onProgress = (deleted: number): void => console.log(deleted);
      const request: DeleteSessionsRequest = { appName: 'shop', olderThan: 1, labels: { a: '1' } };
      const count: number = await service.deleteSessions(request, { signal, onProgress });
      // @ts-expect-error a time is a number, as `lastUpdateTime` is
      await service.deleteSessions({ appName: 'shop', olderThan: new Date() });
      // @ts-expect-error one session is deleted by `deleteSession`
      await service.deleteSessions({ appName: 'shop', sessionId: 's1' });
      return count;
    }
  });

  it('lists by a request with labels, whose result may lack the total', async () => {
    const request: ListSessionsRequest<keyof Shop> = { ...key, labels: { pinned: 'yes' } };
    is<SessionsPage<Shop>>()(await service.listSessions(request));
    const total: ListSessionsTotalRequest<keyof Shop> = { ...key, limit: 1, page: 2 };
    is<ListSessionsResponse<Shop>>()(await service.listSessions(total));
    // @ts-expect-error a list by labels has no total
    const neither: ListSessionsTotalRequest = { ...key, labels: { pinned: 'yes' } };
  });

  it("has the ADK's names of requests", async () => {
    const config: GetSessionConfig = { numRecentEvents: 1, afterTimestamp: 0, skipCorrupt: true };
    const composite: CompositeSessionKey = key;
    const get: GetSessionRequest = { ...composite, config };
    const list: ListSessionsRequest = { appName: 'shop', limit: 1, page: 1, order: 'desc' };
    const create: CreateSessionRequest<Shop> = { ...key, state: { topic: 'tea' } };
    const remove: DeleteSessionRequest = key;
  });
});
