import { COMPUTED_HISTORIES } from '../../../../../js/core/history/histories.js';
import { coreOf } from '../../../../../js/core/core_of.js';
import type { Event } from '../../../../../js/index.js';
import type { ReadyAppend } from '../../../../../js/core/write.js';
import type { Store } from '../../../../../js/core/storage/store.js';
import { serviceHistory, withHistories } from '../../../../../js/service/service_history.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';

/** Calls a function with the events of each write by which the histories of a service are stored, before it. */
export async function overtake(
  service: StoredSessionService,
  beforeWrite: (events: readonly Event[]) => unknown,
): Promise<void> {
  const core = coreOf(service);
  const store = await core.callStore<Store>({}, (store) => store);
  const late: Store = {
    ...store,
    async write(write, call) {
      const { events = [] } = write as Partial<ReadyAppend>;
      await beforeWrite(events.map(({ text }) => JSON.parse(text) as Event));
      return store.write(write, call);
    },
  };
  const computing = withHistories(late, {
    load: () => Promise.resolve(COMPUTED_HISTORIES),
    autoTitle: false,
    takeEvent: (event) => core.appender.take(event),
    takeNew: (request) => core.takeNew(request, false),
  });
  const { calls, reader, publisher, newId } = core;
  const histories = serviceHistory({
    calls,
    reader,
    publisher,
    newId,
    callStore: async (_, work) => work(computing),
    async write(write, call) {
      const written = await computing.write(write, call);
      publisher.publish(write, written);
      return written;
    },
  });
  Object.assign(core, { history: () => histories });
}
