// TypeScript: versions, resolutions and libraries, with strict options and without skipping declarations.

import { join } from 'node:path';
import { type Host, type Project, projectWith } from './host.js';

const [OLDEST, NEWEST] = ['5.4', '7.0'];
const BETWEEN = ['5.9', '6.0'];

/** The lines with an expected error show that the types are not `any`. */
const PROGRAM = `
import {
  IndexedDbSessionService, InMemorySessionService, isSessionError, openSessionService, Template,
  type Session, type SessionService,
} from 'adk-session-wasm';
import type { Storage, StorageReadRequest } from 'adk-session-wasm/storage';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { exportSession, type SessionFile } from 'adk-session-wasm/files';
import { liveSession } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { sessionHandler } from 'adk-session-wasm/server';
import { InMemorySessionService as Slim, loadWasm } from 'adk-session-wasm/slim';
import { conformance } from 'adk-session-wasm/testing';
import { getSessionServiceFromUri } from 'adk-session-wasm/uri';
import { VertexAiSessionService } from 'adk-session-wasm/vertex';

export async function use(storage: Storage): Promise<string> {
  const services: SessionService[] = [
    await openSessionService({ storage }),
    new InMemorySessionService({ stale: 'reject' }),
    new IndexedDbSessionService({ name: 'shop' }),
    new DatabaseSessionService('sqlite::memory:'),
    new VertexAiSessionService({ agentEngineId: '7' }),
    getSessionServiceFromUri('memory://'),
    new Slim(),
  ];
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  for (const service of services) {
    const session: Session | undefined = await service.getSession(key);
    const file: SessionFile = await exportSession(service, key);
    void session; void file;
    // @ts-expect-error -- an id is a string
    await service.createSession({ appName: 'a', userId: 7 });
  }
  // @ts-expect-error -- there is no such storage
  await openSessionService({ storage: 'floppy' });
  const remote = new RemoteSessionService({ url: 'https://chat.example/api' });
  const cache = new CachedSessionService({ remote, owner: 'ada' });
  const pending: number = cache.status.pending.length;
  const { events } = liveSession(cache, key).getSnapshot();
  const handle: (request: never) => Promise<unknown> = sessionHandler(remote, { authorize: () => true });
  void pending; void events; void handle;
  await loadWasm(new Uint8Array(1));
  const first: string | undefined = conformance(() => storage)[0]?.name;
  void first;
  return new Template('{a}').render({ state: { a: 1 } });
}

export const code = (error: unknown) => isSessionError(error) && error.code;
export const signalOf = (request: StorageReadRequest) => request.signal;
`;

const OPTIONS = {
  target: 'ES2022',
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
};

/** A CommonJS file, before TypeScript 5.8 or with `node16`, where `require` of a module does not compile. */
const DYNAMIC_PROGRAM = `
import type { Session } from 'adk-session-wasm' with { 'resolution-mode': 'import' };

export async function create(): Promise<Session> {
  const { InMemorySessionService } = await import('adk-session-wasm');
  // @ts-expect-error -- an id is a string
  await new InMemorySessionService().createSession({ appName: 'a', userId: 7 });
  return new InMemorySessionService().createSession({ appName: 'a', userId: 'u' });
}
`;

const RESOLUTIONS = {
  node16: { module: 'Node16', moduleResolution: 'node16' },
  nodenext: { module: 'NodeNext', moduleResolution: 'nodenext' },
  bundler: { module: 'ESNext', moduleResolution: 'bundler' },
};

const LIBRARIES = {
  DOM: { lib: ['ES2022', 'DOM'], types: [] },
  'no DOM': { lib: ['ES2022'], types: [] },
  "Node's types": { lib: ['ES2022'], types: ['node'] },
};

async function compile(
  project: Project,
  name: string,
  programs: Record<string, string>,
  options: object,
): Promise<void> {
  const folder = project.write(name.replace(/\W+/g, '-'), {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    ...programs,
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...OPTIONS, ...options },
      files: Object.keys(programs),
    }),
  });
  const bin = join(project.folder, 'node_modules/typescript/bin/tsc');
  await project.run(folder, [bin, '-p', folder]);
}

/** Whether a CommonJS file may import a module as Node does. */
const requiresModules = (version: string, resolution: string): boolean =>
  resolution === 'nodenext' && Number.parseFloat(version) >= 5.8;

export const TYPESCRIPT: readonly Host[] = [OLDEST, ...BETWEEN, NEWEST].flatMap((version) =>
  Object.entries(RESOLUTIONS).map(([resolution, options]) => ({
    name: `TypeScript ${version}, ${resolution}`,
    async check() {
      const project = projectWith(`typescript_${version.replace('.', '_')}`);
      const programs = {
        'program.ts': PROGRAM,
        'program.cts': requiresModules(version, resolution) ? PROGRAM : DYNAMIC_PROGRAM,
      };
      for (const [library, types] of Object.entries(LIBRARIES)) {
        await compile(project, `${resolution} ${library}`, programs, { ...options, ...types });
      }
      return Object.keys(LIBRARIES).join(', ');
    },
  })),
);
