// Lists by title and labels: against a model, and the requests and records of their index.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Difference, findDifference } from '../../../../js/read/list_model.js';
import { answer, completion, rows, withDatabase } from '../bare.js';
import { recordRequests } from '../writes/deletion.js';
import { APP, keyOf, USER } from '../events.js';

/** Runs the model over two services for each seed, and returns the first difference. */
export async function compareLists(
  name: string,
  seeds: number,
): Promise<(Difference & { seed: number }) | undefined> {
  for (let seed = 0; seed < seeds; seed += 1) {
    let now = 1_700_000_000_000;
    const options = { name: `${name} ${seed}`, autoTitle: true, clock: () => now };
    const services = [new IndexedDbSessionService(options), new IndexedDbSessionService(options)];
    const difference = await findDifference(services, seed, (ms) => (now += ms));
    for (const service of services) await service.close();
    if (difference !== undefined) return { ...difference, seed };
  }
  return undefined;
}

/** Of each list by the rare label: its sessions, and the requests to the store of sessions. */
export interface FoundByLabel {
  ids: string[];
  requests: string[];
}

export interface TermsResult {
  first: FoundByLabel;
  second: FoundByLabel;
  /** After the records of the index are gone, as in a database of an earlier package. */
  filled: FoundByLabel;
  refilled: FoundByLabel;
  /** By a label that more sessions have than are found by the index. */
  frequent: FoundByLabel;
  /** The records in `details` before and after a deletion by the label. */
  records: [before: number, after: number];
  deleted: number;
}

/** Creates sessions, of which three have a label that is rare. */
export async function listByLabel(name: string, count: number): Promise<TermsResult> {
  const service = new IndexedDbSessionService({ name });
  const rare = [1, 10, count - 1];
  await Promise.all(
    Array.from({ length: count }, (_, number) => {
      const labels = { kind: 'any', ...(rare.includes(number) && { n: 'rare' }) };
      return service.createSession({ ...keyOf(`s${number}`), lastUpdateTime: number, labels });
    }),
  );
  const find = async (labels: Record<string, string>): Promise<FoundByLabel> => {
    const recorded = recordRequests('sessions');
    const owner = { appName: APP, userId: USER, order: 'desc', limit: 5 } as const;
    const { sessions } = await service.listSessions({ ...owner, labels });
    recorded.stop();
    return { ids: sessions.map(({ id }) => id), requests: recorded.requests };
  };
  const byRare = () => find({ n: 'rare' });
  const [first, second] = [await byRare(), await byRare()];
  await withDatabase(name, async (database) => {
    const transaction = database.transaction('details', 'readwrite');
    await answer(transaction.objectStore('details').clear());
    return completion(transaction);
  });
  const [filled, refilled] = [await byRare(), await byRare()];
  const frequent = await find({ kind: 'any' });
  const before = (await rows(name, 'details')).length;
  const deleted = await service.deleteSessions({ appName: APP, labels: { n: 'rare' } });
  const after = (await rows(name, 'details')).length;
  await service.close();
  return { first, second, filled, refilled, frequent, records: [before, after], deleted };
}
