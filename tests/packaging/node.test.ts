// Node: synchronous calls, every entry from CommonJS, and bundles for a server.

import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { build } from 'esbuild';
import { assertOutcome, consumer, type Outcome } from './consumer.js';
import { install, linkDatabase, linkFramework, linkViews, run, write } from './installed.js';

function outcomeOf(file: string, folder: string): Outcome {
  return JSON.parse(run(process.execPath, [file], folder)) as Outcome;
}

describe('in Node', () => {
  it('synchronous calls work with nothing awaited before', () => {
    const program = `
      import { InMemorySessionService } from 'adk-session-wasm';
      const session = new InMemorySessionService().createSessionSync({ appName: 'a', userId: 'u' });
      console.log(JSON.stringify(session.state));`;
    const folder = write('node-sync', { 'main.mjs': program });
    assert.equal(run(process.execPath, ['main.mjs'], folder).trim(), '{}');
  });

  it('every entry has the same exports for import and require', () => {
    linkFramework();
    linkDatabase();
    linkViews();
    const program = `
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      const { exports } = require('adk-session-wasm/package.json');
      const entries = Object.keys(exports).filter((entry) => exports[entry].require && !/internal/.test(entry));
      for (const entry of entries) {
        const name = entry.replace('.', 'adk-session-wasm');
        const keys = [await import(name), require(name)].map((all) => Object.keys(all).sort().join());
        console.log(entry, keys[0] !== '' && keys[0] === keys[1]);
      }`;
    const folder = write('node-entries', { 'main.mjs': program });
    const printed = run(process.execPath, ['main.mjs'], folder).trim().split('\n');
    assert.ok(printed.length >= 9);
    for (const line of printed) assert.match(line, /true$/);
  });

  it('the CommonJS files work outside of node_modules, as after npm link', () => {
    const linked = join(install().project, 'linked');
    cpSync(install().folder, linked, { recursive: true });
    const program = `
      const { conformance } = require('../linked/js/dist/commonjs/testing/index.js');
      const { getSessionServiceFromUri } = require('../linked/js/dist/commonjs/uri/index.js');
      const run = async (uri) => {
        const service = getSessionServiceFromUri(uri);
        const { id } = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's' });
        await service.close();
        return id;
      };
      Promise.all([run('memory://'), run('sqlite::memory:')])
        .then((ids) => console.log(JSON.stringify([...ids, conformance(() => 'memory').length > 100])));`;
    const folder = write('node-linked', { 'main.cjs': program });
    const printed = JSON.parse(run(process.execPath, ['main.cjs'], folder)) as unknown;
    assert.deepEqual(printed, ['s', 's', true]);
  });

  for (const format of ['esm', 'cjs'] as const) {
    it(`the package is bundled for a server, as ${format}`, async () => {
      const print = '\nglobalThis.report.then((outcome) => console.log(JSON.stringify(outcome)));';
      const folder = write(`server-${format}`, { 'main.js': consumer() + print });
      const outfile = join(folder, 'out', format === 'esm' ? 'main.mjs' : 'main.cjs');
      await build({
        entryPoints: [join(folder, 'main.js')],
        outfile,
        bundle: true,
        platform: 'node',
        format,
        logLevel: 'silent',
      });
      // The bundle is deployed without the package.
      const modules = join(install().project, 'node_modules');
      const hidden = `${modules}-hidden`;
      renameSync(modules, hidden);
      try {
        assertOutcome(outcomeOf(outfile, folder));
      } finally {
        renameSync(hidden, modules);
      }
    });
  }
});
