// The types as a strict user sees them, and without skipping our own declarations.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { linkFramework, packageFolder, run, write } from './installed.js';

const tsc = join(packageFolder('typescript'), 'bin', 'tsc');

const PROGRAM = `
import {
  Context, InMemorySessionService, Invocation, isSessionError, openSessionService, State, Template,
  type BaseSessionService, type Event, type Session, type SessionService,
} from 'adk-session-wasm';
import type { Storage } from 'adk-session-wasm/storage';
import { loadWasm, InMemorySessionService as Slim } from 'adk-session-wasm/slim';
import wasm from 'adk-session-wasm/wasm';
import { exportSession, importSession, type SessionFile } from 'adk-session-wasm/files';
import * as testing from 'adk-session-wasm/testing';
import { getSessionServiceFromUri, type SessionServiceUriOptions } from 'adk-session-wasm/uri';
import { VertexAiSessionService, type AccessToken, type VertexAiOptions } from 'adk-session-wasm/vertex';

interface Cart { items: string[]; 'user:name': string }

/** With members of names that the package uses itself. */
export class Mine extends InMemorySessionService<Cart> {
  create = 1;
  get(): string { return 'mine'; }
  take(): void { return; }
}

export async function use(storage: Storage): Promise<string> {
  const service: BaseSessionService = await openSessionService({ storage });
  await service.close();
  const options: SessionServiceUriOptions = { durability: 'strict', stale: 'reject' };
  const named: SessionService<Cart> = getSessionServiceFromUri<Cart>('memory://', options);
  await named.close();
  const accessToken: AccessToken = () => 'token';
  const vertexOptions: VertexAiOptions = { agentEngineId: '7', accessToken, stale: 'append' };
  const remote: SessionService<Cart> = new VertexAiSessionService<Cart>(vertexOptions);
  await remote.close();
  const typed = new InMemorySessionService<Cart>();
  const file: SessionFile = await exportSession(typed, { appName: 'a', userId: 'u', sessionId: 's' });
  await importSession(service, file, { sessionId: 't' });
  const session: Session<Cart> = await typed.createSession({ appName: 'a', userId: 'u' });
  const items: string[] | undefined = session.state.items;
  const name: string | undefined = (await typed.getSession({ appName: 'a', userId: 'u', sessionId: 's' }))
    ?.state['user:name'];
  const invocation = new Invocation({ service: typed, session });
  const event: Event = await invocation.append({ author: 'user' });
  const rated = await typed.appendEvent({ session, event: { invocationId: 'e1', rating: 5 } });
  const both: [string, number] = [rated.id, rated.rating];
  await typed.updateState({ appName: 'a', userId: 'u', sessionId: 's', stateDelta: { items: [] } });
  await using notices = typed.watch({ appName: 'a' });
  for await (const notice of notices) if (notice.type === 'stateChanged') void notice.scopes;
  // @ts-expect-error -- only an invocation makes contexts
  new Context(invocation, { agentName: 'a' });
  // @ts-expect-error -- an internal
  void typed.calls;
  // @ts-expect-error -- an id is a string
  await typed.createSession({ appName: 'a', userId: 7 });
  // @ts-expect-error -- importSession takes these four
  await typed.createSession({ appName: 'a', userId: 'u', events: [] });
  // @ts-expect-error
  await typed.createSession({ appName: 'a', userId: 'u', lastUpdateTime: 1 });
  // @ts-expect-error
  await typed.createSession({ appName: 'a', userId: 'u', sharedState: 'keep' });
  // @ts-expect-error
  await typed.createSession({ appName: 'a', userId: 'u', stateDelta: {} });
  // @ts-expect-error -- there is no such storage
  await openSessionService({ storage: 'floppy' });
  try {
    await loadWasm('/adk.wasm');
    await loadWasm(wasm);
  } catch (error) {
    if (isSessionError(error, 'wasm_unavailable')) return error.code satisfies 'wasm_unavailable';
  }
  new Slim(); void testing; void items; void name; void event; void both; void State.REMOVED;
  return new Template('{a}').render({ state: { a: 1 } });
}
`;

const ADK_PROGRAM = `
import { BaseSessionService, Runner, type LlmAgent } from '@google/adk';
import { asAdkService, IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm/adk';
import { adkSessionService, type FrameworkSessionService } from 'adk-session-wasm/adk/factory';
import { InMemorySessionService as Ours } from 'adk-session-wasm';

interface Cart { items: string[] }

export class Shop extends InMemorySessionService {
  readonly opened = Date.now();
}

export function runner(agent: LlmAgent): Runner {
  const typed: InMemorySessionService = new Shop({ stale: 'merge' });
  const services: BaseSessionService[] = [typed, new IndexedDbSessionService()];
  const { openSessionService, InMemorySessionService: Made } = adkSessionService(BaseSessionService);
  const opened: Promise<BaseSessionService> = openSessionService({ storage: 'memory' });
  const over: FrameworkSessionService = asAdkService(new Ours());
  const typedOver: FrameworkSessionService = asAdkService(new Ours<Cart>(), { stale: 'merge' });
  // @ts-expect-error -- the framework's is nominal
  const ours: BaseSessionService = new Ours();
  // @ts-expect-error -- that is another class
  adkSessionService(Runner);
  void services; void opened; void over; void typedOver; void ours;
  return new Runner({ appName: 'shop', agent, sessionService: new Made() });
}
`;

/** A program that uses the services, and lines that must not compile. */
const SERVICES_PROGRAM = `
import { BaseSessionService, LlmAgent, type ReadonlyContext, Runner } from '@google/adk';
import { instruction, InMemorySessionService as OurService } from 'adk-session-wasm';
import { asAdkService, InMemorySessionService } from 'adk-session-wasm/adk';
import { adkSessionService, type AdkSessionServices } from 'adk-session-wasm/adk/factory';

const service = new InMemorySessionService({ stale: 'reject' });
const framework: BaseSessionService = service;
const provider: (context: ReadonlyContext) => string | Promise<string> = instruction('{topic}');
const agent = new LlmAgent({ name: 'guide', instruction: instruction('{user:name?}') });
export const runner = new Runner({ appName: 'app', agent, sessionService: service });
export async function all(): Promise<void> {
  const { signal } = new AbortController();
  const session = await service.createSession({ appName: 'app', userId: 'u', signal });
  const [event] = session.events;
  if (event) await framework.appendEvent(await Promise.resolve({ session, event }));
  if (event) await service.appendEvents({ session, events: [event] });
  // @ts-expect-error there is no such policy
  new InMemorySessionService({ stale: 'sometimes' });
  await service.close();
  const services: AdkSessionServices = adkSessionService(BaseSessionService);
  const database = new services.IndexedDbSessionService({ name: 'shop', durability: 'strict' });
  await database.ping({ signal });
  await services.IndexedDbSessionService.deleteDatabase('shop');
  // @ts-expect-error an option of the database only
  new services.InMemorySessionService({ durability: 'strict' });
  // @ts-expect-error an instance is not the class
  adkSessionService(service);
  // @ts-expect-error not one of the framework's: it has no private members of BaseSessionService
  new Runner({ appName: 'app', agent, sessionService: new OurService() });
  for (const sessionService of [
    database,
    await services.openSessionService({ storage: 'auto' }),
    asAdkService(new OurService()),
    new (class extends services.InMemorySessionService {})(),
  ] satisfies BaseSessionService[]) {
    new Runner({ appName: 'app', agent, sessionService });
  }
  // @ts-expect-error not a service
  asAdkService('memory');
  // @ts-expect-error a promise of a service
  asAdkService(Promise.resolve(new OurService()));
  // @ts-expect-error an option of the given service
  asAdkService(new OurService(), { clock: Date.now });
  void provider;
}
`;

/** A program that loads the framework's CommonJS copy. */
const COMMONJS_PROGRAM = `
import framework = require('@google/adk');
import factory = require('adk-session-wasm/adk/factory');

const { InMemorySessionService } = factory.adkSessionService(framework.BaseSessionService);
export const services: framework.BaseSessionService[] = [
  new InMemorySessionService(),
];
`;

const OPTIONS = {
  target: 'ES2022',
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: [],
};

const RESOLUTIONS = {
  nodenext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  bundler: { module: 'ESNext', moduleResolution: 'bundler' },
};

/** Compiles programs together: most of the time goes into the types that they import. */
function check(name: string, programs: Record<string, string>, options: object): void {
  const files = Object.keys(programs);
  const config = JSON.stringify({ compilerOptions: options, files });
  const folder = write(name, { ...programs, 'tsconfig.json': config });
  try {
    run(process.execPath, [tsc, '-p', folder], folder);
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
}

/** Types of Node's, of this repository. */
const typeRoots = [dirname(packageFolder('@types/node'))];

/** Everything but the framework's own types, which need `skipLibCheck` themselves. */
const ADK_OPTIONS = {
  ...OPTIONS,
  lib: ['ES2022', 'DOM'],
  types: ['node'],
  typeRoots,
  skipLibCheck: true,
};

describe('the types', () => {
  before(linkFramework);

  for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
    it(`resolve and compile in a page, with ${name}`, () => {
      const options = { ...OPTIONS, ...resolution, lib: ['ES2022', 'DOM'], skipLibCheck: false };
      check(`page-${name}`, { 'program.ts': PROGRAM }, options);
    });

    it(`resolve in a program for Node, with ${name}`, () => {
      const options = { ...OPTIONS, ...resolution, lib: ['ES2022'], types: ['node'], typeRoots };
      check(`node-${name}`, { 'program.ts': PROGRAM }, { ...options, skipLibCheck: true });
    });
  }

  const ofFramework = { 'program.ts': ADK_PROGRAM, 'services.ts': SERVICES_PROGRAM };

  it("fit the framework's types in CommonJS too, with nodenext", () => {
    const programs = { ...ofFramework, 'program.cts': COMMONJS_PROGRAM };
    check('adk-nodenext', programs, { ...ADK_OPTIONS, ...RESOLUTIONS.nodenext });
  });

  it("fit the framework's types, with bundler", () => {
    check('adk-bundler', ofFramework, { ...ADK_OPTIONS, ...RESOLUTIONS.bundler });
  });
});
