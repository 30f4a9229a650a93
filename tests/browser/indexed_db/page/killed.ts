// The page that is killed with its browser: tells what it finds, then appends until it is gone.

import { burst, readStored } from './burst.js';

const query = new URLSearchParams(location.search);
const options = {
  name: 'killed',
  durability: query.get('durability') === 'strict' ? 'strict' : 'relaxed',
} as const;

/** What Chromium says of a database that it has given up and begun anew, as after damage to its files. */
let givenUp: string | undefined;

const open = indexedDB.open.bind(indexedDB);
indexedDB.open = (...args) => {
  const request = open(...args);
  request.addEventListener('upgradeneeded', (event) => {
    const { dataLoss, dataLossMessage } = event as Event & {
      dataLoss?: string;
      dataLossMessage?: string;
    };
    if (dataLoss !== undefined && dataLoss !== 'none') givenUp = dataLossMessage ?? dataLoss;
  });
  return request;
};

async function run(): Promise<void> {
  const stored = await readStored(options);
  await fetch('/found', { method: 'POST', body: JSON.stringify({ stored, givenUp }) });
  await burst(options, query.get('run') ?? '');
}

run().catch((error: unknown) =>
  fetch('/found', { method: 'POST', body: JSON.stringify({ error: String(error) }) }),
);
