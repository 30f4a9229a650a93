import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { format, resolveConfig } from 'prettier';

import { HISTORIES } from './histories.js';
import { makeVectors, readVectors, VECTORS } from './vectors.js';

// UPDATE=1 npm test -- tests/interop/history/vectors.test.ts   writes the file again
describe('tests/vectors/history.json', () => {
  it('has what google-adk and @google/adk make of its histories', async () => {
    const made = await makeVectors(HISTORIES);
    if (process.env.UPDATE !== undefined) {
      const config = await resolveConfig(VECTORS);
      const options = { ...config, parser: 'json' };
      writeFileSync(VECTORS, await format(JSON.stringify(made), options));
    }
    assert.deepEqual(readVectors(), JSON.parse(JSON.stringify(made)));
  });

  it('has no name twice', () => {
    const names = HISTORIES.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });
});
