import { Diagnostics } from '../call/diagnostics.js';
import { knownOf } from '../call/known_options.js';
import { takeAutoTitle } from '../model/auto_title.js';
import { newEventId } from '../model/event/create_event.js';
import { IndexedDbSessionService } from '../service/indexed_db_session_service.js';
import { CORE, ServiceCore } from '../service/service_core.js';
import { checkedClock } from '../service/sources.js';
import { CacheFeed } from './cache_feed.js';
import { CacheStore } from './cache_store.js';
import { Bounds } from './copies/bounds.js';
import { Fetch } from './copies/fetch.js';
import { Lists } from './copies/lists.js';
import { LocalCopies } from './copies/local_copies.js';
import { RemoteEnd } from './copies/remote_end.js';
import { Unsent } from './copies/unsent.js';
import { OWN_OPTIONS, type SharedOptions, type TakenOptions } from './options.js';
import { Outbox } from './outbox.js';
import { type CacheKey, keyOfName, nameOf } from './records/cache_key.js';
import { failureOf } from './records/failures.js';
import { Lease, LEASE_MS } from './records/lease.js';
import { callerOf, Records } from './records/records.js';
import { StatusBoard, type StatusMessage } from './records/status.js';
import { Turns } from './records/turns.js';
import { Delivery } from './sending/delivery.js';
import { Sender } from './sending/sender.js';

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

  /** Names this tab in messages to the others. */
  const tab = newEventId();
  const records = new Records(callerOf(localCore), owner);
  const cacheFeed = new CacheFeed(localCore.feed.feed, records);
  const tellTabs = (kind: string, content?: unknown): void =>
    cacheFeed.postMessage([kind, tab, content]);
  const tell = (key: CacheKey): void => tellTabs('changed', nameOf(key));
  const board = new StatusBoard(tab, (message) => tellTabs('status', message));
  const report = (error: unknown): void => {
    if (closing.signal.aborted) return;
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
    onForget: () => void forget().catch(report),
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
  const tellIdle = (): void => tellTabs('idle');
  const sender = new Sender({ ...shared, delivery, tellIdle });
  const isThrough = write === 'through';
  const store = new CacheStore({ ...shared, sender, isThrough });

  const clear = (): void => {
    unsent.clear();
    records.forgetOwners();
    store.forgetCopies();
  };
  const forgets = new Turns(async () => {
    // The other tabs first: what they store later would stay.
    tellTabs('forget');
    clear();
    const erased = await records.erase();
    // Work that had begun before may have stored something since.
    await Promise.all([fetch.turns.settled(), lists.turns.settled(), unsent.pins.settled()]);
    await records.erase(erased);
    clear();
    tellTabs('forget');
  });
  const forget = (): Promise<void> => forgets.call('', undefined);
  /** @param message `undefined`: messages may have been missed, or the browser has lost the database */
  const onMessage = (message: readonly unknown[] | undefined): void => {
    if (closing.signal.aborted) return;
    if (message === undefined) {
      store.forgetCopies();
      run(async () => {
        // One of the missed messages may have been `forget`.
        if (await records.areErased()) clear();
        records.forgetOwners();
        await unsent.scan();
      }).catch(report);
      return;
    }
    const [kind, from, content] = message;
    if (from === tab) return;
    if (kind === 'forget') clear();
    else if (kind === 'opened') board.share();
    else if (kind === 'status') board.receive(content as StatusMessage);
    else if (kind === 'idle' && unsent.ready().length > 0) sender.wake();
    else if (kind === 'changed') {
      const name = content as string;
      run(() => unsent.refresh(keyOfName(name)))
        .then(() => unsent.isReady(name) && sender.wakeLater(LEASE_MS))
        .catch(report);
    }
  };
  const stopListening = cacheFeed.listen(onMessage, report);
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
        await Promise.allSettled(background);
        board.close();
        if (options.local === undefined) await localService.close();
      },
    },
    knownOf<SharedOptions>(options, OWN_OPTIONS),
  );

  /** Work behind calls. `close` waits for it. */
  const background = new Set<Promise<unknown>>();
  function run<T>(work: () => Promise<T>): Promise<T> {
    const done = (async () => {
      core.calls.requireOpen();
      return work();
    })();
    background.add(done);
    const settle = (): void => void background.delete(done);
    done.then(settle, settle);
    return done;
  }
  const outbox = new Outbox({ ...shared, sender, run });
  // Sends what an earlier visit left.
  void Promise.resolve()
    .then(() => tellTabs('opened'))
    .then(() => run(() => unsent.scan()))
    .then(() => unsent.ready().length > 0 && sender.wake())
    .catch(report);
  const remoteService: object = options.remote;
  return { ...shared, core, remoteService, sender, outbox, forget, run };
}
