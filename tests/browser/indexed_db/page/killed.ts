// The page that is killed with its browser: tells what it finds, then appends until it is gone.

import { burst, readStored } from './burst.js';

const query = new URLSearchParams(location.search);
const options = {
  name: 'killed',
  durability: query.get('durability') === 'strict' ? 'strict' : 'relaxed',
} as const;

async function run(): Promise<void> {
  const stored = await readStored(options);
  await fetch('/found', { method: 'POST', body: JSON.stringify({ stored }) });
  await burst(options, query.get('run') ?? '');
}

run().catch((error: unknown) =>
  fetch('/found', { method: 'POST', body: JSON.stringify({ error: String(error) }) }),
);
