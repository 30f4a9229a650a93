import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

it('The feed of a remote service imports nothing dynamically, which a service worker cannot', async () => {
  const entry = fileURLToPath(
    new URL('../../../../js/stores/remote/remote_feed.ts', import.meta.url),
  );
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    splitting: true,
    outdir: '/',
    write: false,
    metafile: true,
  });
  const dynamic = Object.entries(metafile.inputs).flatMap(([path, { imports }]) =>
    imports.filter(({ kind }) => kind === 'dynamic-import').map((to) => `${path}: ${to.path}`),
  );
  assert.deepEqual(dynamic, []);
});
