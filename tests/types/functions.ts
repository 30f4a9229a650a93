// The functions and classes without a state: what compiles, what must not, and what is inferred.

import * as adk from '../../js/service/adk/index.js';
import * as database from '../../js/service/database/index.js';
import * as files from '../../js/service/files/index.js';
import {
  type SessionService,
  type Context,
  createEvent,
  createEventActions,
  type Event,
  type EventActions,
  finalResponseText,
  IndexedDbSessionService,
  InMemorySessionService,
  injectSessionState,
  instruction,
  type InstructionContext,
  type InstructionProvider,
  Invocation,
  isFinalResponse,
  isSessionError,
  type OnDataLoss,
  openSessionService,
  type Placeholder,
  type ReadonlyContext,
  requestPersistence,
  resolveInstruction,
  type Session,
  SessionError,
  type SessionErrorCode,
  type SessionServiceOptions,
  State,
  StateSchemaError,
  type StorageUsage,
  storageUsage,
  Template,
} from '../../js/index.js';
import * as main from '../../js/index.js';
import * as slim from '../../js/slim.js';
// The sources lack the cases, which the build makes.
import type { Storage } from '../../js/core/storage/index.js';
import * as testing from 'adk-session-wasm/testing';
import * as uri from '../../js/service/uri/index.js';
import * as vertex from '../../js/service/vertex/index.js';
import { describe, is, it } from './expect.js';

declare const service: InMemorySessionService;
declare const session: Session;
declare const event: Event;
const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };

describe('The types of events', () => {
  it('follow from the given fields', async () => {
    {
      const made = createEvent({ author: 'user', rating: 5 });
      is<string>()(made.id);
      is<number>()(made.rating);
      const whole: Event = made;
      is<EventActions>()(createEventActions({ escalate: true }));
      // @ts-expect-error a number is no text
      createEvent({ author: 5 });
      // @ts-expect-error there are no such actions
      createEventActions({ escalte: true });
      return whole;
    }
  });

  it('are those of final responses', async () => {
    {
      is<boolean>()(isFinalResponse(event));
      is<string | undefined>()(finalResponseText(event));
      // @ts-expect-error it is no event
      isFinalResponse('done');
      // @ts-expect-error it is no event
      finalResponseText(undefined);
    }
  });
});

describe('The types of templates', () => {
  it('accept any context with a state', async () => {
    {
      const context: InstructionContext = { state: { topic: 'tea' } };
      is<string>()(await injectSessionState('{topic}', context));
      is<string>()(await injectSessionState('{topic}', { state: new State({ topic: 'tea' }) }));
      const template = new Template('{topic}');
      is<readonly Placeholder[]>()(template.placeholders);
      is<string>()(await template.render(context));
      const provider: InstructionProvider = instruction('{topic}');
      is<string>()(await resolveInstruction(provider, {} as ReadonlyContext));
      is<string>()(await resolveInstruction('{topic}', {} as ReadonlyContext));
      is<string>()(await resolveInstruction(() => 'text', {} as Context));
      // @ts-expect-error a template is text
      new Template(5);
      // @ts-expect-error a context has a state
      await injectSessionState('{topic}', {});
      // @ts-expect-error a provider returns text
      await resolveInstruction(() => 5, {} as Context);
      // @ts-expect-error a template is text
      instruction(5);
    }
  });
});

describe('The types of invocations', () => {
  it('follow from the event and the context', async () => {
    {
      const invocation = new Invocation({ service, session });
      const context = invocation.context({ agentName: 'guide' });
      is<Context>()(context);
      is<ReadonlyContext>()(invocation.readonlyContext({ agentName: 'guide' }));
      const appended = await invocation.append({ author: 'user', rating: 5 }, { context });
      is<number>()(appended.rating);
      is<string>()(appended.id);
      is<number>()(await context.saveArtifact('a.txt', { text: 'a' }));
      is<string[]>()(await context.listArtifacts());
      is<main.Part | undefined>()(await context.loadArtifact('a.txt', 0));
      is<ReadonlyContext>()(context.toReadonly());
      is<void>()(invocation.end());
      // @ts-expect-error only an invocation makes contexts
      new main.Context(invocation, { agentName: 'guide' });
      // @ts-expect-error only an invocation makes contexts
      new main.ReadonlyContext(invocation, { agentName: 'guide' });
      // @ts-expect-error a version is a number
      await context.loadArtifact('a.txt', 'newest');
      // @ts-expect-error no such option
      invocation.context({ agentName: 'guide', banch: 'root' });
      // @ts-expect-error no such option
      await invocation.append({}, { outputkey: 'answer' });
      // @ts-expect-error a read-only state has no writing methods
      void invocation.readonlyContext({ agentName: 'guide' }).state.set;
    }
  });
});

describe('The types of artifacts', () => {
  it("are the framework's", async () => {
    {
      const artifactService: main.ArtifactService = {
        saveArtifact: ({ filename }) => Promise.resolve(filename.length),
        loadArtifact: ({ version }) => Promise.resolve({ text: String(version) }),
        listArtifactKeys: ({ sessionId }) => Promise.resolve([sessionId]),
      };
      new Invocation({ service, session, artifactService });
      // @ts-expect-error it saves no files
      new Invocation({ service, session, artifactService: {} });
      const { artifacts } = new main.InMemorySessionService({ artifacts: { folder: 'files' } });
      is<Required<main.ArtifactService>>()(artifacts);
      new Invocation({ service, session, artifactService: artifacts });
      const key = { appName: 'shop', userId: 'ada', sessionId: 's1', filename: 'a' };
      is<Blob | undefined>()(await artifacts.open({ ...key, start: 1 }));
      is<number>()((await artifacts.put({ ...key, data: new Uint8Array(1) })).version);
      // @ts-expect-error a text is no bytes
      await artifacts.put({ ...key, data: 'text' });
    }
  });
});

describe('The types of the browser storage', () => {
  it('are those of the services', async () => {
    {
      const onDataLoss: OnDataLoss = async (loss, service) => {
        is<number>()(loss.when);
        is<main.SessionService>()(service);
        await service.close();
      };
      const kept = new IndexedDbSessionService({ name: 'shop', onDataLoss });
      is<void>()(await kept.ping());
      is<void>()(await IndexedDbSessionService.deleteDatabase('shop', { timeoutMs: 1 }));
      is<StorageUsage | undefined>()(await storageUsage());
      is<boolean>()(await requestPersistence());
      // @ts-expect-error no such durability
      new IndexedDbSessionService({ durability: 'best' });
      // @ts-expect-error a memory has no name
      new InMemorySessionService({ name: 'shop' });
      is<void>()(await slim.loadWasm('/adk.wasm'));
    }
  });
});

describe('The types of subpaths', () => {
  it('accept every service', async () => {
    {
      interface Shop {
        topic: string;
      }
      const typed = new InMemorySessionService<Shop>();
      const file = await files.exportSession(typed, key);
      is<files.SessionFile>()(file);
      const imported = await files.importSession(typed, file, { sessionId: 's2' });
      const session: Session = imported;
      is<files.SessionFile>()(files.sessionToFile(session, { casing: 'snake' }));
      is<Session>()(files.sessionFromFile(file, { userId: 'ada' }));
      for await (const line of files.exportSessions(typed, { appName: 'shop' })) is<string>()(line);
      for await (const { error } of files.importSessions(typed, [])) {
        is<main.SessionErrorCode | undefined>()(error?.code);
      }
      // @ts-expect-error no such option
      await files.importSession(typed, file, { sesionId: 's2' });
      // @ts-expect-error it is no service
      await files.exportSession({}, key);
      // @ts-expect-error a session has a user
      await files.exportSession(typed, { appName: 'shop', sessionId: 's1' });
      return session;
    }
  });

  it('are those of the storages', async () => {
    {
      const sql = new database.DatabaseSessionService('sqlite::memory:', { durability: 'relaxed' });
      is<void>()(await sql.ping());
      const named = uri.getSessionServiceFromUri('memory://', { driverOptions: {} });
      is<main.SessionService>()(named);
      const remote = new vertex.VertexAiSessionService({ accessToken: async () => 'token' });
      const services: SessionService[] = [sql, named, remote];
      // @ts-expect-error a database has an address
      new database.DatabaseSessionService();
      // @ts-expect-error no such engine
      new database.DatabaseSessionService({ kysely: {} as never, engine: 'oracle' });
      // @ts-expect-error a URI is text
      uri.getSessionServiceFromUri(new URL('memory://'));
      // @ts-expect-error a token is text
      new vertex.VertexAiSessionService({ accessToken: 5 });
      return services;
    }
  });

  it("are those of the framework's services", async () => {
    {
      const view = adk.asAdkService(new InMemorySessionService<{ topic: string }>());
      is<adk.FrameworkSessionService>()(view);
      is<adk.FrameworkSessionService>()(await adk.openSessionService({ storage: 'memory' }));
      const stored = await view.appendEvent({ session: {} as never, event: {} as never });
      const ours: Event = stored;
      // @ts-expect-error no such policy
      adk.asAdkService(service, { stale: 'never' });
      // @ts-expect-error it is no service
      adk.asAdkService({});
      // @ts-expect-error it is no class of the framework
      adk.adkSessionService(InMemorySessionService);
      return ours;
    }
  });

  it('are those of the conformance suite', async () => {
    {
      for (const testCase of testing.conformance(() => ({}) as Storage)) {
        is<string>()(testCase.name);
        is<Promise<void>>()(testCase.run());
      }
      // @ts-expect-error it is no storage
      testing.conformance(() => 5);
    }
  });
});

describe('Options of a service', () => {
  it('are named and typed', async () => {
    const options: SessionServiceOptions[] = [
      {},
      { stale: undefined, stateSchema: undefined, clock: undefined, newId: undefined },
      { stale: 'reject', clock: Date.now, newId: () => 'x' },
    ];
    {
      // @ts-expect-error no such policy
      const a: SessionServiceOptions = { stale: 'ignore' };
      // @ts-expect-error a clock gives milliseconds
      const b: SessionServiceOptions = { clock: () => new Date() };
      // @ts-expect-error no such storage
      const c = openSessionService({ storage: 'memroy' });
      // @ts-expect-error no such option
      new InMemorySessionService({ stateWriter: undefined });
      return [a, b, c];
    }
  });
});

describe('Errors', () => {
  it('are distinguished by their code', async () => {
    const error: unknown = undefined;
    if (!isSessionError(error)) return;
    is<SessionError>()(error);
    is<SessionErrorCode>()(error.code);
    is<Record<string, unknown>>()(error.toJSON());
    if (isSessionError(error, 'schema_violation')) {
      is<'schema_violation'>()(error.code);
    }
    {
      // @ts-expect-error no such code
      isSessionError(error, 'wrong');
      // @ts-expect-error no such code
      return new SessionError('wrong', '');
    }
  });
});
