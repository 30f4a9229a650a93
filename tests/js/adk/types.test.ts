import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a user's program does with the service, as its compiler sees it. */
const PROGRAM = `
import { BaseSessionService, LlmAgent, type ReadonlyContext, Runner } from '@google/adk';
import { instruction, InMemorySessionService as OurService } from 'adk-session-wasm';
import { InMemorySessionService, overService } from 'adk-session-wasm/adk';
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
  await database.open({ signal });
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
    overService((options) => new OurService(options)),
    await overService(async (options) => new OurService(await Promise.resolve(options))),
    new (class extends services.InMemorySessionService {})(),
  ] satisfies BaseSessionService[]) {
    new Runner({ appName: 'app', agent, sessionService });
  }
  // @ts-expect-error what it makes must be a service
  overService(() => 'memory');
  void provider;
}
`;

describe('The types of adk-session-wasm/adk', () => {
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    it(`fit the framework's under strict and moduleResolution ${moduleResolution}`, (t) => {
      // Within the package, so that its name means itself.
      mkdirSync(join(root, 'target'), { recursive: true });
      const folder = mkdtempSync(join(root, 'target/adk-types-'));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'program.ts'), PROGRAM);
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
        module,
        moduleResolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        // The framework's own declarations name packages that it does not bring along.
        skipLibCheck: true,
        types: ['node'],
      };
      const config = JSON.stringify({ compilerOptions, files: ['program.ts'] });
      writeFileSync(join(folder, 'tsconfig.json'), config);
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout);
    });
  }
});
