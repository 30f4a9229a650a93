// The types as a strict user sees them, and without skipping our own declarations.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { install, packageFolder, run, write } from './installed.js';

const tsc = join(packageFolder('typescript'), 'bin', 'tsc');

const PROGRAM = `
import {
  InMemorySessionService, Invocation, isSessionError, openSessionService, State, Template,
  type BaseSessionService, type Event, type Session, type StorageAdapter,
} from 'adk-session-wasm';
import { loadWasm, InMemorySessionService as Slim } from 'adk-session-wasm/slim';
import { Template as Bundled } from 'adk-session-wasm/browser';
import { exportSession, importSession, type SessionFile } from 'adk-session-wasm/files';
import * as testing from 'adk-session-wasm/testing';

interface Cart { items: string[]; 'user:name': string; [key: string]: unknown }

export async function use(storage: StorageAdapter): Promise<string> {
  const service: BaseSessionService = await openSessionService({ storage });
  await service.close();
  const typed = new InMemorySessionService<Cart>();
  const file: SessionFile = await exportSession(typed, { appName: 'a', userId: 'u', sessionId: 's' });
  await importSession(service, file, { sessionId: 't' });
  const session: Session<Cart> = await typed.createSession({ appName: 'a', userId: 'u' });
  const items: string[] = session.state.items;
  const name: string | undefined = (await typed.getSession({ appName: 'a', userId: 'u', sessionId: 's' }))
    ?.state['user:name'];
  const invocation = new Invocation({ service: typed, session });
  const event: Event = await invocation.append({ author: 'user' });
  // @ts-expect-error -- an id is a string
  await typed.createSession({ appName: 'a', userId: 7 });
  // @ts-expect-error -- there is no such storage
  await openSessionService({ storage: 'floppy' });
  try {
    await loadWasm('/adk.wasm');
  } catch (error) {
    if (isSessionError(error, 'wasm_unavailable')) return error.code satisfies 'wasm_unavailable';
  }
  new Slim(); void Bundled; void testing; void items; void name; void event; void State.REMOVED;
  return new Template('{a}').render({ state: { a: 1 } });
}
`;

/** Everything but the framework's own types, which need \`skipLibCheck\` themselves. */
const ADK_PROGRAM = `
import { type BaseSessionService, Runner, type LlmAgent } from '@google/adk';
import { InMemorySessionService } from 'adk-session-wasm/adk';

export function runner(agent: LlmAgent): Runner {
  const sessionService: BaseSessionService = new InMemorySessionService();
  return new Runner({ appName: 'shop', agent, sessionService });
}
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

function check(name: string, program: string, options: object): void {
  const folder = write(name, {
    'program.ts': program,
    'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['program.ts'] }),
  });
  try {
    run(process.execPath, [tsc, '-p', folder], folder);
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
}

/** Types of Node's, of this repository. */
const typeRoots = [dirname(packageFolder('@types/node'))];

describe('the types', () => {
  before(() => {
    // By a link, so that it finds its own dependencies, and they are found to be the same.
    const framework = join(
      dirname(createRequire(import.meta.url).resolve('@google/adk')),
      '..',
      '..',
    );
    const scope = join(install().project, 'node_modules', '@google');
    run('mkdir', ['-p', scope], '.');
    symlinkSync(framework, join(scope, 'adk'));
  });

  for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
    it(`resolve and are sound in a page, with ${name}`, () => {
      const options = { ...OPTIONS, ...resolution, lib: ['ES2022', 'DOM'], skipLibCheck: false };
      check(`page-${name}`, PROGRAM, options);
    });

    it(`resolve in a program of Node's, with ${name}`, () => {
      const options = { ...OPTIONS, ...resolution, lib: ['ES2022'], types: ['node'], typeRoots };
      check(`node-${name}`, PROGRAM, { ...options, skipLibCheck: true });
    });

    it(`fit the framework's, with ${name}`, () => {
      const options = {
        ...OPTIONS,
        ...resolution,
        lib: ['ES2022', 'DOM'],
        types: ['node'],
        typeRoots,
      };
      check(`adk-${name}`, ADK_PROGRAM, { ...options, skipLibCheck: true });
    });
  }
});
