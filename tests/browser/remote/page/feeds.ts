// A page that watches ten sessions of a server, which its address names.

import type { Notice } from 'adk-session-wasm';
import { RemoteSessionService } from 'adk-session-wasm/remote';

const url = new URLSearchParams(location.search).get('server') ?? '';
const service = new RemoteSessionService({ url, headers: { 'x-user': 'ada' } });
const keys = Array.from({ length: 10 }, (_, number) => {
  return { appName: 'shop', userId: 'ada', sessionId: `s${number}` };
});
const watches = keys.map((key) => service.watch(key));

async function next(): Promise<Notice[]> {
  return Promise.all(watches.map(async (watch) => (await watch.next()).value!));
}

export interface FeedsPage {
  /** Returns the type of the next notice of each watch. */
  types(): Promise<Notice['type'][]>;
  /** Reads all sessions at once, and returns how many events each of them has. */
  read(): Promise<(number | undefined)[]>;
}

const page: FeedsPage = {
  types: async () => (await next()).map(({ type }) => type),
  async read() {
    const sessions = await Promise.all(keys.map((key) => service.getSession(key)));
    return sessions.map((session) => session?.events.length);
  },
};
Object.assign(globalThis, page);
