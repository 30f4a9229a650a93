import { Diagnostics } from '../call/diagnostics.js';
import { takeAutoTitle } from '../model/auto_title.js';
import { isSessionError } from '../errors/errors.js';
import { IndexedDbSessionService } from '../service/indexed_db_session_service.js';
import { CORE, ServiceCore } from '../service/service_core.js';
import { checkedClock } from '../service/sources.js';
import { Background } from './background.js';
import { CacheFeed } from './cache_feed.js';
import { CacheStore } from './cache_store.js';
import { Bounds } from './copies/bounds.js';
import { Fetch } from './copies/fetch.js';
import { Lists } from './copies/lists.js';
import { LocalCopies } from './copies/local_copies.js';
import { RemoteEnd } from './copies/remote_end.js';
import { Unsent } from './copies/unsent.js';
import type { TakenOptions } from './options.js';
import { Forget } from './forget.js';
import { Outbox } from './outbox.js';
import { type CacheKey, keyOfName, nameOf } from './records/cache_key.js';
import { failureOf } from './records/failures.js';
import { Lease, LEASE_MS } from './records/lease.js';
import { callerOf, Records } from './records/records.js';
import { StatusBoard } from './records/status.js';
import { Delivery } from './sending/delivery.js';
import { Sender } from './sending/sender.js';
import { type TabListeners, Tabs } from './tabs.js';

export type CacheParts = ReturnType<typeof openParts>;

/** Makes the parts of a cache, and connects them. */
export function openParts(options: TakenOptions) {
  const { owner, write } = options;
  const clock = checkedClock(options.clock ?? Date.now);
  const storage = { kind: 'cache', durable: true };
  const diagnostics = Diagnostics.of(options, storage);
  const localService =
    options.local ?? new IndexedDbSessionService({ name: `adk-session-wasm cache ${owner}` });
  const localCore: ServiceCore = localService[CORE];
  storage.durable = localCore.storage.durable;
  const closing = new AbortController();

  const records = new Records(callerOf(localCore), owner);
  const cacheFeed = new CacheFeed(localCore.feed.feed, records);
  const tabs = new Tabs(cacheFeed);
  const tell = (key: CacheKey): void => tabs.post('changed', nameOf(key));
  const board = new StatusBoard(tabs.own, (message) => tabs.post('status', message));
  const report = (error: unknown): void => {
    // Work that was ended on purpose, by `close` or `forget`.
    if (closing.signal.aborted || isSessionError(error, 'aborted')) return;
    board.set({ lastError: failureOf(error) });
    diagnostics?.tell('cache', error);
  };

  const local = new LocalCopies(localCore, records, clock);
  const unsent = new Unsent({ local, records, board, report, tell });
  const remote = new RemoteEnd({
    core: options.remote[CORE],
    board,
    unsent,
    closing: closing.signal,
    onForget: () => void run(() => forget.run()).catch(report),
  });
  const feed = () => core.feed;
  const context = { ...options, local, remote, records, unsent, board, feed, clock, report, tell };
  const bounds = new Bounds(context);
  const fetch = new Fetch({ ...context, bounds });
  const lists = new Lists({ ...context, bounds, fetch });
  const lease = new Lease({
    changeOwn: (compute) => bounds.write(() => records.changeOwn(compute)),
  });
  const autoTitle = takeAutoTitle(options.autoTitle);
  const shared = { ...context, bounds, fetch, lists, lease, autoTitle };
  const delivery = new Delivery(shared);
  const tellIdle = (): void => tabs.post('idle');
  const sender = new Sender({ ...shared, delivery, tellIdle });
  const isThrough = write === 'through';
  const store = new CacheStore({ ...shared, sender, isThrough });

  const forget = new Forget({ ...shared, tabs, store });
  const background = new Background(() => core.calls.requireOpen());
  const run = background.run.bind(background);
  const listeners: TabListeners = {
    forget: () => forget.clear(),
    opened: () => board.share(),
    status: (message) => board.receive(message),
    idle() {
      if (unsent.ready().length > 0) sender.wake();
    },
    changed(name) {
      run(() => unsent.refresh(keyOfName(name)))
        .then(() => unsent.isReady(name) && sender.wakeLater(LEASE_MS))
        .catch(report);
    },
    missed() {
      store.forgetCopies();
      run(() => forget.refresh()).catch(report);
    },
  };
  const stopListening = tabs.listen(listeners, report);
  const goOnline = (): void => sender.wake();
  globalThis.addEventListener?.('online', goOnline);

  const core: ServiceCore = new ServiceCore(
    {
      storage,
      openStore: () => store,
      parseEvents: store.parse,
      feed: cacheFeed,
      closing() {
        stopListening();
        globalThis.removeEventListener?.('online', goOnline);
        closing.abort();
      },
      async closeStorage() {
        await sender.close();
        await Promise.all([fetch.turns.idle(), lists.turns.idle(), bounds.close()]);
        await background.settled();
        board.close();
        if (options.local === undefined) await localService.close();
      },
    },
    options,
  );

  const outbox = new Outbox({ ...shared, sender, run });
  // Sends what an earlier visit left.
  void Promise.resolve()
    .then(() => tabs.post('opened'))
    .then(() => run(() => unsent.known()))
    .then(() => unsent.ready().length > 0 && sender.wake())
    .catch(report);
  const remoteService: object = options.remote;
  return { ...shared, core, remoteService, sender, outbox, forget, run };
}
