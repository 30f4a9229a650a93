import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { HISTORIES } from './histories.js';
import { makeVectors } from './python_views.js';
import { readVectors, textOfVectors, VECTORS } from './vectors.js';

// UPDATE=1 npm test -- tests/interop/history/vectors.test.ts   writes the file again
describe('tests/vectors/history.json', () => {
  it('has what google-adk and @google/adk make of its histories', async () => {
    const made = await makeVectors(HISTORIES);
    if (process.env.UPDATE !== undefined) writeFileSync(VECTORS, textOfVectors(made));
    assert.deepEqual(readVectors(), JSON.parse(JSON.stringify(made)));
  });

  it('has one event a line', () => {
    assert.equal(readFileSync(VECTORS, 'utf8'), textOfVectors(readVectors()));
  });

  it('has no name twice', () => {
    const names = HISTORIES.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });
});
