import { Diagnostics } from '../call/diagnostics.js';
import { holdProgramUntil } from '../call/program_hold.js';
import { isSessionError } from '../errors/errors.js';
import { CORE } from '../model/initial_state.js';
import { ServiceCore } from '../service/service_core.js';
import { checkedClock } from '../service/sources.js';
import { Background } from './background.js';
import { CacheBackend } from './cache_backend.js';
import { Bounds } from './copies/bounds.js';
import { Fetch } from './copies/fetch.js';
import { Follower } from './copies/follower.js';
import { Lists } from './copies/lists.js';
import { RemoteEnd } from './copies/remote_end.js';
import { openLocalStore } from './local/open_local_store.js';
import type { TakenOptions } from './options.js';
import { Outbox } from './outbox.js';
import { type CacheKey, keyOfName, nameOf } from './records/cache_key.js';
import { errorOf, shortFailureOf } from './records/failures.js';
import { Births } from './data/births.js';
import { LocalData } from './data/local_data.js';
import { Pending } from './data/pending.js';
import { StatusBoard } from './records/status.js';
import { Turns } from './records/turns.js';
import { Delivery } from './sending/delivery.js';
import { Leadership } from './sending/leadership.js';
import { Sender } from './sending/sender.js';
import { type TabListeners, Tabs } from './tabs.js';

export type CacheParts = ReturnType<typeof openParts>;

/** Makes the parts of a cache, and connects them. */
export function openParts(options: TakenOptions) {
  const { owner, write } = options;
  const clock = checkedClock(options.clock ?? Date.now);
  const {
    store: localStore,
    feed: ownFeed,
    isDurable,
    isOwn,
  } = openLocalStore(options.local, owner);
  const storage = { kind: 'cache', durable: isDurable };
  const diagnostics = Diagnostics.of(options, storage);
  const data = new LocalData(localStore, owner);
  const tabs = new Tabs(ownFeed);
  const board = new StatusBoard(tabs.own, (message) => tabs.post('status', message));
  const report = (error: unknown): void => {
    // Work that was ended on purpose, by `close` or `forget`.
    if (remote.isClosed || isSessionError(error, 'aborted')) return;
    board.set({ lastError: shortFailureOf(error) });
    diagnostics?.tell('cache', error);
  };
  const remote: RemoteEnd = new RemoteEnd({
    core: options.remote[CORE],
    board,
    onForget: () => void run(() => forget()).catch(report),
  });
  const pending = new Pending({ data, board });
  data.onCommit(({ operations, notices }) => {
    for (const name of operations.keys()) tabs.post('changed', name);
    if (notices.length > 0) ownFeed.publish(notices);
  });
  const context = { ...options, data, remote, pending, board, clock, report };
  const births = new Births();
  const bounds = new Bounds(context);
  const fetch = new Fetch({
    ...context,
    bounds,
    fetchOvertaken: (owners) => lists.fetchOvertaken(owners),
  });
  const lists: Lists = new Lists({ ...context, bounds, fetch });
  const follower = new Follower({
    ...context,
    ...{ feed: options.remote[CORE].feed, fetch, lists },
    sending: (name) => sender.sending(name),
  });
  const leadership = new Leadership({
    data,
    report,
    onChange(isLeader) {
      follower.setLeader(isLeader);
      if (isLeader) sender.wake();
    },
    onOthers: () => rescan(),
  });
  const shared = { ...context, bounds, fetch, lists, leadership };
  const delivery = new Delivery(shared);
  const sender: Sender = new Sender({
    ...shared,
    delivery,
    tellWake: () => tabs.post('wake'),
    tellFailure: (error) => tabs.post('failed', shortFailureOf(error)),
  });
  const follow = ({ appName, userId }: CacheKey): void => {
    if (!follower.follow({ appName, userId })) return;
    tabs.post('reads', nameOf({ appName, userId }));
    run(() => leadership.want()).catch(report);
  };
  const backend = new CacheBackend({
    ...shared,
    ...{ sender, follow, births, isThrough: write === 'through' },
  });

  /** Forgets what this tab holds of data that are erased. */
  const clear = (): void => {
    remote.erase();
    pending.clear();
    lists.forget();
    births.forget();
    sender.settle();
  };
  /** Finds what others have written, or what was written while the local data was erased. */
  const rescan = (): void =>
    void run(() => pending.scan())
      .then(() => sender.wakeForWrite())
      .catch(report);
  const erasing = new Turns<undefined>(async () => {
    tabs.post('forget', false);
    clear();
    await data.erase();
    clear();
    tabs.post('forget', true);
    rescan();
  });
  const forget = (): Promise<void> => erasing.call('', undefined);

  const background = new Background(() => core.calls.requireOpen());
  const run = background.run.bind(background);
  const listeners: TabListeners = {
    forget(isErased) {
      clear();
      if (isErased) rescan();
    },
    opened() {
      board.share();
      for (const name of follower.wanted) tabs.post('reads', name);
    },
    status: (message) => board.receive(message),
    wake: () => {
      if (leadership.isLeader) sender.wake();
    },
    failed: (failure) => sender.failed(errorOf(failure)),
    closed: () => void run(() => leadership.want()).catch(report),
    changed(name) {
      run(() => pending.refresh(keyOfName(name)))
        .then(async () => {
          if (pending.next(name) === undefined) return;
          if (leadership.isLeader) sender.wakeForWrite();
          else await run(() => leadership.want());
        })
        .catch(report);
    },
    reads: (name) => void follower.follow(keyOfName(name)),
    missed() {
      lists.forget();
      rescan();
    },
  };
  const stopListening = tabs.listen(listeners, report);
  const goOnline = (): void => sender.wake();
  globalThis.addEventListener?.('online', goOnline);

  const core: ServiceCore = new ServiceCore(
    {
      storage,
      openBackend: () => backend,
      feed: ownFeed,
      closing() {
        stopListening();
        globalThis.removeEventListener?.('online', goOnline);
        follower.close();
        remote.close();
        void sender.close();
      },
      async closeStorage() {
        await sender.close();
        await Promise.all([fetch.turns.idle(), lists.turns.idle(), bounds.close()]);
        await background.settled();
        if (await leadership.release()) tabs.post('closed');
        board.close();
        if (isOwn) await data.close();
      },
    },
    options,
  );

  /** Runs a call of the program, unlike the work of the background. */
  const call = <T>(work: () => Promise<T>): Promise<T> => {
    const result = run(work);
    holdProgramUntil(result);
    return result;
  };
  const outbox = new Outbox({ ...shared, sender, call });
  // Sends what an earlier visit left.
  void Promise.resolve()
    .then(() => tabs.post('opened'))
    .then(() => run(() => pending.scan()))
    .then(() => sender.wake())
    .catch(report);
  const remoteService: object = options.remote;
  return { ...shared, core, remoteService, sender, outbox, forget, call };
}
