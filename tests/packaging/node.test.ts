// Node: synchronous calls, `require` of every entry, and bundles for a server.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { build } from 'esbuild';
import { entries } from '../../js/build/entries.mjs';
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

  it('a stack trace ends in the sources', () => {
    const program = `
      import { InMemorySessionService } from 'adk-session-wasm';
      import { InMemorySessionService as Slim } from 'adk-session-wasm/slim';
      for (const Service of [InMemorySessionService, Slim]) {
        const error = await new Service().createSession({ appName: '' }).catch((error) => error);
        console.log(error.stack.split('\\n').find((line) => line.includes('takeNewSession')));
      }`;
    const folder = write('node-stack', { 'main.mjs': program });
    const lines = run(process.execPath, ['--enable-source-maps', 'main.mjs'], folder);
    for (const line of lines.trimEnd().split('\n'))
      assert.match(line, /js\/service\/new_session\.ts:\d+:/);
  });

  it('`require` gives the module of each entry that `import` gives', () => {
    linkFramework();
    linkDatabase();
    linkViews();
    // An entry of types alone is a module without exports.
    const names = entries()
      .map(({ name }) => name)
      .filter((name) => !name.endsWith('/storage'));
    const program = `
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      for (const name of ${JSON.stringify(names)}) {
        const required = require(name);
        console.log(name, Object.keys(required).length > 0 && required === (await import(name)));
      }`;
    const folder = write('node-entries', { 'main.mjs': program });
    const printed = run(process.execPath, ['main.mjs'], folder).trim().split('\n');
    assert.deepEqual(
      printed,
      names.map((name) => `${name} true`),
    );
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
