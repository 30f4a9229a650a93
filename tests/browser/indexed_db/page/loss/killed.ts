// The page that is killed with its browser: it reports its data, then appends or creates sessions until the kill.

import { around } from '../around.js';
import { burst, readStored } from '../../loss/bursts.js';
import { createForEver, deleteForEver, readCreations } from './creations.js';

const query = new URLSearchParams(location.search);
const options = {
  name: 'killed',
  durability: query.get('durability') === 'strict' ? 'strict' : 'relaxed',
} as const;

/** Chromium's message about a database that it abandoned and recreated, as after damage to its files. */
let givenUp: string | undefined;

around(IDBFactory.prototype, 'open', (_factory, args, proceed) => {
  const request = proceed(...args) as IDBOpenDBRequest;
  request.addEventListener('upgradeneeded', (event) => {
    const { dataLoss, dataLossMessage } = event as Event & {
      dataLoss?: string;
      dataLossMessage?: string;
    };
    if (dataLoss === undefined || dataLoss === 'none') return;
    givenUp = dataLossMessage ?? dataLoss;
  });
  return request;
});

async function run(): Promise<void> {
  if (query.has('creates')) {
    const created = await readCreations(options);
    await fetch('/found', { method: 'POST', body: JSON.stringify({ created, givenUp }) });
    const isDeleting = query.get('creates') === 'and deletes';
    await (isDeleting ? deleteForEver : createForEver)(options, query.get('run') ?? '');
  }
  const stored = await readStored(options);
  await fetch('/found', {
    method: 'POST',
    body: JSON.stringify({ stored, givenUp }),
  });
  await burst(options, query.get('run') ?? '');
}

run().catch((error: unknown) =>
  fetch('/found', { method: 'POST', body: JSON.stringify({ error: String(error) }) }),
);
