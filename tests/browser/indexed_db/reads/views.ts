// Views of rewound and compacted histories.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import type { Vector } from '../../../interop/history/vectors.js';
import { expectedReads, type Reads, readsOf } from '../../../js/history/vector_reads.js';

/** What the tests call in the page. */
export const inPage = { readVector };
type Page = typeof inPage;

export function views(context: Context): void {
  it('each history has the same view whole, by windows, by pages and after a merge', async () => {
    const file = new URL('../../../vectors/history.json', import.meta.url);
    const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];
    await inTab<Page>(context, async (tab) => {
      const name = newName();
      for (const vector of vectors) {
        const reads = await tab.call('readVector', name, vector);
        assert.deepEqual(reads, expectedReads(vector, 'some'), vector.name);
      }
    });
  });
}

async function readVector(name: string, vector: Vector): Promise<Reads> {
  const service = new IndexedDbSessionService({ name });
  const reads = await readsOf(service, vector, 'some');
  await service.close();
  return reads;
}
