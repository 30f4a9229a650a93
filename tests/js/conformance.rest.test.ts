// The conformance suite over adapters that are synchronous, that are slow, and that have optional verbs.

import { mapAdapter } from '../../examples/map_adapter.js';
import type { StorageAdapter } from '../../js/storage/index.js';
import { cutPage } from '../../js/storage/cut_page.js';
import { sortList } from '../../js/storage/list_place.js';
import { conforms } from './conforms.js';

/** Makes each verb asynchronous, so that others run in between. */
function late(): StorageAdapter {
  const adapter = mapAdapter();
  const pause = () => new Promise((done) => setTimeout(done, Math.random() * 3));
  const later = async <T>(verb: () => T): Promise<Awaited<T>> => {
    await pause();
    const answer = await verb();
    await pause();
    return answer;
  };
  return {
    create: (request, decide) => later(() => adapter.create(request, decide)),
    append: (request, decide) => later(() => adapter.append(request, decide)),
    read: (request) => later(() => adapter.read(request)),
    list: (request) => later(() => adapter.list(request)),
    describe: (request) => later(() => adapter.describe?.(request) ?? false),
    delete: (request) => later(() => adapter.delete(request)),
  };
}

/** Reads pages of events, and of lists after a place, by verbs of their own. */
function paging(): StorageAdapter {
  const adapter = mapAdapter();
  return {
    ...adapter,
    async readPage(request) {
      const { session, events } = await adapter.read({ key: request.key, window: {} });
      return { session, events: cutPage(events, request), eventCount: events.length };
    },
    async listAfter({ limit, ...request }) {
      const all = await adapter.list({ ...request, offset: 0 });
      return { ...all, sessions: sortList(all.sessions, request).slice(0, limit) };
    },
  };
}

/** Stores appends of several sessions together. Now and then it leaves one to be stored alone, or fails. */
function grouping(adapter: StorageAdapter, isMoody: boolean): StorageAdapter {
  let count = 0;
  return {
    ...adapter,
    appendMany: async (writes) => {
      for (const { request, decide } of writes) {
        count += 1;
        if (isMoody && count % 5 === 0) continue;
        if (isMoody && count % 7 === 0) throw new Error('moody');
        await adapter.append(request, decide);
      }
    },
  };
}

conforms('memory, chosen by name', () => 'memory');
conforms('a map that answers at once', mapAdapter);
conforms('a map that answers late', late);
conforms('a map that reads pages of events', paging);
conforms('a map that stores groups', () => grouping(mapAdapter(), false));
conforms('a map that stores groups and answers late', () => grouping(late(), false));
conforms('a map that stores parts of groups', () => grouping(mapAdapter(), true));
