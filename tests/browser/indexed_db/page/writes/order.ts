// Calls that do not await each other.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { APP, failure, idsOf, keyOf, mark } from '../events.js';

export interface CallsAtOnce {
  /** By call: the code that it failed with, or nothing. */
  codes: (string | null)[];
  /** The events and the keys of the session afterwards. */
  events: string[];
  keys: string[];
}

/** Adds 1 to a number 2,000 times at once, by two services in turns. Returns the sum. */
export async function countAtOnce(name: string): Promise<unknown> {
  const services = [new IndexedDbSessionService({ name }), new IndexedDbSessionService({ name })];
  const key = { appName: APP };
  const add = ({ 'app:total': total = 0 }: Record<string, unknown>) => ({
    'app:total': Number(total) + 1,
  });
  const counts = Array.from({ length: 2000 }, (_, number) =>
    services[number % 2]!.updateState({ ...key, stateDelta: add }),
  );
  await Promise.all(counts);
  const { total } = await services[0]!.getAppState(key);
  for (const service of services) await service.close();
  return total;
}

/** Calls one after the other without awaiting them, each of which needs the one before. */
export async function callAtOnce(name: string): Promise<CallsAtOnce> {
  const service = new IndexedDbSessionService({ name });
  const key = keyOf('one');
  const session = await service.createSession(key);
  const calls: Promise<unknown>[] = [
    service.appendEvent({ session, event: mark('early') }),
    service.deleteSession(key),
    service.createSession({ ...key, state: { a: 1 } }),
    service.updateState({ ...key, stateDelta: { b: 2 } }),
    service.deleteSession(key),
    service.createSession({ ...key, state: { c: 3 } }),
    service.updateState({ appName: APP, stateDelta: { 'app:d': 4 } }),
    service.deleteAppState({ appName: APP }),
  ];
  const codes = await Promise.all(
    calls.map((call) =>
      call.then(
        () => null,
        async () => (await failure(() => call)).code,
      ),
    ),
  );
  const read = await service.getSession(key);
  await service.close();
  return { codes, events: idsOf(read), keys: Object.keys(read?.state ?? {}) };
}
