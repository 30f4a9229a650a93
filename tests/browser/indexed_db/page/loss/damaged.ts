// A page of a browser that is killed, and whose files are then damaged. It reports its data, then writes a little.

import { IndexedDbSessionService } from 'adk-session-wasm';
import type { OnDataLoss } from '../../../../../js/service/indexed_db_session_service.js';
import { importSession } from 'adk-session-wasm/files';
import { APP, idsOf, keyOf, mark, USER } from '../events.js';
import { acknowledge } from '../site.js';

/** The content of a database when the page opens it. */
export interface Visit {
  events?: string[];
  /** The value of `service.storage.lost`. */
  lost?: string | undefined;
  error?: string;
}

const query = new URLSearchParams(location.search);

/** More events than one batch of an import has. */
const BACKUP = Array.from({ length: 600 }, (_, number) => mark(`backup:${number}`));

/** Imports the backup. */
const refill: OnDataLoss = async (_loss, service) => {
  await importSession(service, { id: 'one', appName: APP, userId: USER, events: BACKUP });
};

async function visit(name: string): Promise<void> {
  const onDataLoss = query.has('refill') ? refill : undefined;
  const service = new IndexedDbSessionService({ name, onDataLoss });
  const session = await service.getOrCreateSession(keyOf('one'));
  const found: Visit = { events: idsOf(session), lost: service.storage.lost?.message };
  for (let number = 0; number < 3; number += 1) {
    await service.appendEvent({ session, event: mark(`${query.get('visit')}:${number}`) });
  }
  while (!(await caches.keys()).some((key) => key.endsWith(`:${name}`))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await fetch('/found', { method: 'POST', body: JSON.stringify(found) });
}

async function run(): Promise<void> {
  await visit('one');
  // Chromium reports a loss only to the first opening of a database.
  await visit('another');
  acknowledge('done');
}

run().catch((error: unknown) =>
  fetch('/found', { method: 'POST', body: JSON.stringify({ error: String(error) }) }),
);
