// The versions that docs/compatibility.md names are those of package.json.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { engines, peerDependencies } = JSON.parse(read('package.json')) as {
  engines: { node: string };
  peerDependencies: Record<string, string>;
};
const [, table = ''] = /^## Versions of other programs\n([^]*?)^## /m.exec(read('docs/compatibility.md')) ?? []; // prettier-ignore

it('docs/compatibility.md has the ranges of all peer dependencies', () => {
  const { '@google/adk': framework, ...others } = peerDependencies;
  const missing = Object.values(others).filter((range) => !table.includes(`\`${range}\``));
  assert.deepEqual(missing, []);
  assert.equal(framework, '^2.0.0');
  assert.match(read('docs/compatibility.md'), /works with `@google\/adk` 2\.x/);
});

it('README.md and docs/compatibility.md have the versions of Node', () => {
  for (const file of ['README.md', 'docs/compatibility.md']) {
    const text = read(file).replaceAll('\\|', '|');
    assert.ok(text.includes(`\`${engines.node}\``), file);
  }
});
