// The conformance suite over storages that are synchronous, that are slow, and that have optional verbs.

import { storageOfParts, wholeStorage } from './service/whole_storage.js';
import type { Storage } from '../../js/core/storage/index.js';
import { cutPage } from '../../js/core/storage/cut_page.js';
import { conforms, OF_STORAGES } from './conforms.js';

/** Makes each verb asynchronous, so that others run in between. */
function late(): Storage {
  const storage = wholeStorage();
  const pause = () => new Promise((done) => setTimeout(done, Math.random() * 3));
  const later = async <T>(verb: () => T): Promise<Awaited<T>> => {
    await pause();
    const answer = await verb();
    await pause();
    return answer;
  };
  return {
    create: (request, decide) => later(() => storage.create(request, decide)),
    append: (request, decide) => later(() => storage.append(request, decide)),
    read: (request) => later(() => storage.read(request)),
    list: (request) => later(() => storage.list(request)),
    describe: (request) => later(() => storage.describe?.(request) ?? false),
    delete: (request) => later(() => storage.delete(request)),
  };
}

/** Reads pages of events, and of lists after a place, by verbs of their own. */
function paging(): Storage {
  const storage = storageOfParts();
  return {
    ...storage,
    async readPage(request) {
      const { session, events } = await storage.read({ key: request.key, window: {} });
      return { session, events: cutPage(events, request), eventCount: events.length };
    },
  };
}

/** Stores appends of several sessions together. Now and then it leaves one to be stored alone, or fails. */
function grouping(storage: Storage, isMoody: boolean): Storage {
  let count = 0;
  return {
    ...storage,
    appendMany: async (writes) => {
      for (const { request, decide } of writes) {
        count += 1;
        if (isMoody && count % 5 === 0) continue;
        if (isMoody && count % 7 === 0) throw new Error('moody');
        await storage.append(request, decide);
      }
    },
  };
}

conforms('memory, chosen by name', () => 'memory');
conforms('a map that answers at once', wholeStorage, OF_STORAGES);
conforms('a map that answers late', late, OF_STORAGES);
conforms('a map that reads pages of events', paging, OF_STORAGES);
conforms('a map that stores groups', () => grouping(wholeStorage(), false), OF_STORAGES);
conforms('a map that stores groups and answers late', () => grouping(late(), false), OF_STORAGES);
conforms('a map that stores parts of groups', () => grouping(wholeStorage(), true), OF_STORAGES);
