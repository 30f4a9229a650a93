// The page that is killed with its browser: it reports its data, then appends, creates sessions or puts files until the kill.

import { burst, readStored } from '../../loss/bursts.js';
import { createForEver, deleteForEver, readCreations } from './creations.js';
import { putForEver, readPuts } from './puts.js';
import { givenUp } from './given_up.js';

const query = new URLSearchParams(location.search);
const options = {
  name: 'killed',
  durability: query.get('durability') === 'strict' ? 'strict' : 'relaxed',
} as const;

async function run(): Promise<void> {
  if (query.has('puts')) {
    const puts = await readPuts(options);
    await fetch('/found', { method: 'POST', body: JSON.stringify({ puts, givenUp: givenUp() }) });
    await putForEver(options);
  }
  if (query.has('creates')) {
    const created = await readCreations(options);
    await fetch('/found', {
      method: 'POST',
      body: JSON.stringify({ created, givenUp: givenUp() }),
    });
    const isDeleting = query.get('creates') === 'and deletes';
    await (isDeleting ? deleteForEver : createForEver)(options, query.get('run') ?? '');
  }
  const stored = await readStored(options);
  await fetch('/found', {
    method: 'POST',
    body: JSON.stringify({ stored, givenUp: givenUp() }),
  });
  await burst(options, query.get('run') ?? '');
}

run().catch((error: unknown) =>
  fetch('/found', { method: 'POST', body: JSON.stringify({ error: String(error) }) }),
);
