import type { Call } from '../../core/call/call.js';
import type { Diagnostics } from '../../core/call/diagnostics.js';
import type { Store } from '../../core/storage/store.js';
import type { Feed } from '../../core/watch/feed.js';
import type { HistoriesLoader } from '../../core/history/histories.js';
import { isSessionError, type SessionError } from '../../values/errors/errors.js';
import type { ReadPolicy } from '../../values/model/values/read_options.js';
import { CacheStore } from './cache_store.js';
import { CopyFetcher, StateFetcher } from './copies/copy_fetcher.js';
import { CopyLimits } from './copies/copy_limits.js';
import { Follower } from './copies/follower.js';
import { Lists } from './copies/lists.js';
import { RemoteConnection, type RemoteConnectionParts } from './copies/remote_connection.js';
import { LocalIds } from './data/local_ids.js';
import { LocalData } from './data/local_data.js';
import { Pending } from './data/pending.js';
import type { LocalStore } from './local_store/local_store.js';
import type { OwnerFlag } from './local_store/owner_flag.js';
import { type CacheKey, keyOfName, nameOf } from './records/cache_key.js';
import { dataForgottenError, errorOf, failureOfError } from './records/failures.js';
import type { LossRecord } from './records/records.js';
import type { CacheLoss, StatusBoard } from './records/status.js';
import { Delivery } from './sending/delivery.js';
import { Leadership } from './sending/leadership.js';
import { Sender } from './sending/sender.js';
import type { TabListeners, Tabs } from './tabs/tabs.js';

/** The options of a cache that concern its data, checked and with their defaults. */
export interface CacheSettings {
  readonly owner: string;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  readonly write: 'local' | 'through';
  readonly maxSessions: number;
  readonly maxAge?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** The parts of a tab that its epochs use, and that outlive them. */
export interface TabParts {
  readonly options: CacheSettings;
  /** The core of the remote service. */
  readonly remoteCore: RemoteConnectionParts['core'];
  readonly clock: () => number;
  readonly localStore: LocalStore;
  readonly flag: OwnerFlag | undefined;
  readonly ownFeed: Feed;
  readonly tabs: Tabs;
  readonly board: StatusBoard;
  readonly diagnostics: Diagnostics | undefined;
  readonly background: Background;
  readonly loadHistories: HistoriesLoader;
  /** Called when a transaction finds out that the local data was forgotten. */
  readonly onForgotten: () => void;
  /** Called when the remote orders to forget the local data. */
  readonly onForgetOrder: () => void;
}

/** The messages of other tabs that concern the local data. */
type DataListeners = Omit<TabListeners, 'forget' | 'status'>;

export type Epoch = ReturnType<typeof openEpoch>;

/**
 * Makes the parts of a cache that work on the local data until the data are forgotten. Then the tab opens another
 * epoch. Work that is under way keeps the parts of its own epoch, and ends with `aborted`.
 *
 * @param earlier the data of the epoch before
 */
export function openEpoch(tab: TabParts, earlier?: LocalData) {
  const { options, clock, flag, tabs, board } = tab;
  const run = tab.background.run.bind(tab.background);
  const { owner } = options;
  const data = new LocalData({
    store: tab.localStore,
    owner,
    onForgotten: tab.onForgotten,
    flag,
    earlier,
  });
  const report = (error: unknown): void => {
    // Work that was ended on purpose, by `close` or `forget`.
    if (remote.isClosed || isSessionError(error, 'aborted')) return;
    board.set({ lastError: failureOfError(error) });
    tab.diagnostics?.tell('cache', error);
  };
  const remote: RemoteConnection = new RemoteConnection({
    core: tab.remoteCore,
    board,
    onForget: tab.onForgetOrder,
  });
  const pending = new Pending(data, board);
  data.onCommit(({ mutations, notices, loss }) => {
    for (const name of mutations.keys()) tabs.post('changed', name);
    if (notices.length > 0) tab.ownFeed.publish(notices);
    const isLost = notices.some(({ type }) => type === 'lost');
    if (isLost) tabs.post('lost');
    board.setLost(loss && lossOf(loss));
    if (mutations.size > 0 || isLost) {
      flag?.noteSoon({ client: data.client, events: pending.events });
    }
  });
  const awaited = new Set<number>();
  const context = { ...options, data, remote, pending, board, clock, awaited, report };
  const localIds = new LocalIds();
  data.hold(() => ({ mutations: pending.waiting(), sessions: localIds.all() }));
  const limits = new CopyLimits(context);
  const states = new StateFetcher({ ...context, limits });
  const fetch = new CopyFetcher({ ...context, limits, states });
  const lists = new Lists({ ...context, limits, states, fetch });
  const follower = new Follower({
    ...context,
    feed: remote.core.publisher,
    fetch,
    lists,
    states,
    sending: (name) => sender.sending(name),
  });
  /** Reads again which mutations wait, because other tabs may have written some. */
  const rescan = (): void =>
    void run(() => pending.scan())
      .then(() => sender.wakeForWrite())
      .catch(report);
  const leadership = new Leadership({
    data,
    report,
    onChange(isLeader) {
      follower.setLeader(isLeader);
      if (isLeader) sender.wake();
    },
    onOthers: rescan,
  });
  const shared = { ...context, limits, states, fetch, lists, leadership };
  const sender: Sender = new Sender({
    ...shared,
    delivery: new Delivery(shared),
    agent: tab.remoteCore.serverAgent,
    tellWake: () => tabs.post('wake'),
    tellFailure: (error) => tabs.post('failed', failureOfError(error)),
  });
  const follow = ({ appName, userId }: CacheKey): void => {
    if (follower.follow({ appName, userId })) tabs.post('reads', nameOf({ appName, userId }));
    // The tab that led when this was first read may have ended.
    if (!leadership.isWanted) run(() => leadership.want()).catch(report);
  };
  const store = new CacheStore({
    ...shared,
    sender,
    follow,
    localIds,
    loadHistories: tab.loadHistories,
  });

  const listeners: DataListeners = {
    opened() {
      board.share();
      for (const name of follower.wanted) tabs.post('reads', name);
    },
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
    lost: () => listeners.missed(),
    missed() {
      lists.forget();
      rescan();
    },
  };

  /** Ends the calls and the requests that wait. */
  const end = (reason: SessionError): void => {
    follower.close();
    remote.close(reason);
    void sender.close(reason);
  };
  /** Waits for the work that is under way. */
  const settled = async (reason: SessionError): Promise<void> => {
    await sender.close(reason);
    const queues = [fetch.queue, lists.queue, states.queue];
    await Promise.all([...queues.map((queue) => queue.idle()), limits.close()]);
  };
  /** Called when the local data is forgotten. */
  const forget = async (): Promise<void> => {
    const reason = dataForgottenError();
    data.end();
    end(reason);
    pending.clear();
    board.setLost(undefined);
    await Promise.all([settled(reason), leadership.stop()]);
  };
  return { ...shared, store, sender, follower, listeners, rescan, end, settled, forget };
}

/** Returns what the status shows of a loss. */
function lossOf({ when, message, events, isAcknowledged }: LossRecord): CacheLoss | undefined {
  return isAcknowledged ? undefined : { when, message, events };
}

/** Returns a store that passes each verb to the local data of the call's epoch, even after `forget`. */
export function epochStore(present: () => CacheStore): Store {
  /** Calls that the package makes itself have none, and take that of the present epoch. */
  const of = ({ store }: Call): CacheStore => (store instanceof CacheStore ? store : present());
  return {
    traits: present().traits,
    open: (call) => of(call).open(),
    write: (write, call) => of(call).write(write, call),
    read: (request, call) => of(call).read(request, call),
    list: (request, call) => of(call).list(request, call),
    state: (request, call) => of(call).state(request, call),
    search: (request, call) => of(call).search(request, call),
  };
}

/** The work of a service that outlives its calls. The service's `close` waits for the work. */
export class Background {
  readonly #requireOpen: () => void;
  readonly #pending = new Set<Promise<unknown>>();

  /** @param requireOpen throws if the service is closed */
  constructor(requireOpen: () => void) {
    this.#requireOpen = requireOpen;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = (async () => {
      this.#requireOpen();
      return work();
    })();
    this.#pending.add(done);
    const settle = (): void => void this.#pending.delete(done);
    done.then(settle, settle);
    return done;
  }

  /** Waits for the work that was given so far. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}
