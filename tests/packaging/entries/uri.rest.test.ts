// The service of a URI: a page's bundle of it holds no database, a server's does, and both run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { build } from 'esbuild';
import { bundleWithEsbuild, bundleWithVite, filesBelow } from '../bundles.js';
import { page } from '../consumer.js';
import { linkDatabase, run, write } from '../installed.js';

const MAIN = `
import { getSessionServiceFromUri } from 'adk-session-wasm/uri';

async function use(uri) {
  const service = getSessionServiceFromUri(uri);
  try {
    const session = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's' });
    return session.id;
  } catch (error) {
    return error.code;
  } finally {
    await service.close();
  }
}

globalThis.report = (async () => [await use('memory://'), await use('sqlite:uri.db')])();
const print = (report) => console.log(JSON.stringify(report));
globalThis.report.then(print);
`;

/** Names that only Kysely's code has. */
const KYSELY = /SelectQueryNode|PostgresDialect|MysqlDialect/;

const textBelow = (folder: string): string =>
  filesBelow(folder)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

describe('the service of a URI', () => {
  before(linkDatabase);

  it('can be imported in Node', () => {
    const folder = write('uri-node', { 'main.mjs': MAIN });
    assert.deepEqual(JSON.parse(run(process.execPath, ['main.mjs'], folder)), ['s', 's']);
  });

  it('can be bundled for a page without any database, which its error says', async () => {
    const out = await bundleWithEsbuild(write('uri-page', { 'main.js': MAIN }));
    assert.doesNotMatch(textBelow(out), KYSELY);
    const printed = run(process.execPath, ['main.js'], out);
    assert.deepEqual(JSON.parse(printed), ['s', 'storage_unavailable']);
  });

  it('can be built with Vite without any database', async () => {
    const files = { 'index.html': page('/main.js'), 'main.js': MAIN };
    const out = await bundleWithVite(write('uri-vite', files));
    assert.match(textBelow(out), /A page cannot reach a SQL database/);
    assert.doesNotMatch(textBelow(out), KYSELY);
  });

  it('can be bundled for a server with the databases, without their drivers', async () => {
    const folder = write('uri-server', { 'main.js': MAIN });
    const outfile = join(folder, 'main.mjs');
    await build({
      entryPoints: [join(folder, 'main.js')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    assert.match(readFileSync(outfile, 'utf8'), KYSELY);
    assert.deepEqual(JSON.parse(run(process.execPath, [outfile], folder)), ['s', 's']);
  });
});
