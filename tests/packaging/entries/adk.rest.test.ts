// The entries for programs on @google/adk, with each of its two copies.
// The first tests run before it is installed in the project.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bundleWithEsbuild, wasmCopies } from '../bundles.js';
import { linkFramework, run, write } from '../installed.js';

const FACTORY = 'adk-session-wasm/adk/factory';
/** Runs a program in Node, and returns its output. */
function printed(name: string, file: string, program: string): string {
  return run(process.execPath, [file], write(name, { [file]: program })).trim();
}

describe('adk-session-wasm/adk/factory', () => {
  it('can be imported without @google/adk', () => {
    const program = `import { adkSessionService } from '${FACTORY}'; console.log(typeof adkSessionService);`;
    assert.equal(printed('factory-alone', 'main.mjs', program), 'function');
  });

  it('can be bundled for a page without @google/adk, but with the wasm', async () => {
    const main = `import { adkSessionService } from '${FACTORY}'; globalThis.made = adkSessionService;`;
    const out = await bundleWithEsbuild(write('factory-page', { 'main.js': main }));
    assert.deepEqual(wasmCopies(out), { files: 0, inlined: 1, rules: 0 });
  });

  it('makes the services over the CommonJS copy, required from CommonJS', () => {
    linkFramework();
    const program = `
      const { BaseSessionService } = require('@google/adk');
      const { adkSessionService } = require('${FACTORY}');
      const { InMemorySessionService, openSessionService } = adkSessionService(BaseSessionService);
      const key = { appName: 'a', userId: 'u', sessionId: 's' };
      openSessionService({ storage: 'memory' }).then(async (service) => {
        const { id } = await service.createSession(key);
        console.log(id, [service, new InMemorySessionService()].every((one) => one instanceof BaseSessionService));
      });`;
    assert.equal(printed('factory-cjs', 'main.cjs', program), 's true');
  });

  it('can be bundled with a CommonJS program for a server over one copy', async () => {
    const program = `
      const { BaseSessionService } = require('@google/adk');
      const { adkSessionService } = require('${FACTORY}');
      const { InMemorySessionService } = adkSessionService(BaseSessionService);
      console.log(new InMemorySessionService() instanceof BaseSessionService);`;
    const folder = write('adk-server', { 'main.js': program, 'package.json': '{}' });
    const { peerDependencies } = JSON.parse(
      readFileSync(join(folder, '../node_modules/@google/adk/package.json'), 'utf8'),
    ) as { peerDependencies: Record<string, string> };
    const out = await bundleWithEsbuild(folder, {
      platform: 'node',
      format: 'cjs',
      external: Object.keys(peerDependencies),
    });
    assert.equal(run(process.execPath, [join(out, 'main.js')], folder).trim(), 'true');
  });
});

describe('adk-session-wasm/adk', () => {
  it('has services over the ESM copy', () => {
    const program = `
      import { createRequire } from 'node:module';
      import { BaseSessionService } from '@google/adk';
      import { InMemorySessionService } from 'adk-session-wasm/adk';
      const commonjs = createRequire(import.meta.url)('@google/adk');
      const service = new InMemorySessionService();
      console.log(service instanceof BaseSessionService, service instanceof commonjs.BaseSessionService);`;
    assert.equal(printed('adk-esm', 'main.mjs', program), 'true false');
  });
});
