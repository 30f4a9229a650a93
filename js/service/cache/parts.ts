import { rules } from '#rules';
import type { Call } from '../../core/call/call.js';
import { Diagnostics } from '../../core/call/diagnostics.js';
import { holdProgramUntil } from '../../core/call/lifetime.js';
import { endsWithin, TimeLimit, untilAborted } from '../../core/call/time_limit.js';
import { coreOf } from '../../core/core_of.js';
import type { HistoriesLoader } from '../../core/history/histories.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { loadWasm } from '../../core/wasm/loading.js';
import { ServiceCore } from '../service_core.js';
import { checkedClock } from '../sources.js';
import { Background, epochStore, type Epoch, openEpoch } from '../../stores/cache/epoch.js';
import { openLocalStore } from '../../stores/cache/tabs/open_local_store.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { TakenOptions } from './options.js';
import { followRuns } from '../../stores/cache/follow_runs.js';
import { Outbox } from '../../stores/cache/outbox.js';
import { refusedOfSessions } from '../../stores/cache/outbox_changes.js';
import { nameOf } from '../../stores/cache/records/cache_key.js';
import { closedError, isOutage } from '../../stores/cache/records/failures.js';
import { isOf } from '../../stores/cache/outbox/mutation.js';
import { StatusBoard } from '../../stores/cache/records/status.js';
import { GroupedQueue } from '../../stores/cache/copies/grouped_queue.js';
import { Tabs } from '../../stores/cache/tabs/tabs.js';

const loadHistories: HistoriesLoader = async () =>
  (await loadChunk(() => import('../../core/history/histories.js'))).COMPUTED_HISTORIES;

export type CacheParts = ReturnType<typeof openParts>;

/** Waits until the remote has a session that was created here. */
async function sendSession(
  { pending, sender }: Epoch,
  key: CompositeSessionKey,
  signal: HostAbortSignal | undefined,
): Promise<void> {
  await pending.refresh(key);
  const creations = pending.mutations(nameOf(key)).filter((each) => isOf(each, 'create'));
  const numbers = creations.map(({ number }) => number);
  await sender.confirm(key, numbers, signal);
}

/** Does work with a signal that fires as soon as one of two does. */
async function untilEither<T>(
  one: HostAbortSignal | undefined,
  other: HostAbortSignal | undefined,
  work: (either: HostAbortSignal) => Promise<T>,
): Promise<T> {
  // Not `AbortSignal.any`: some browsers lack it.
  const limit = new TimeLimit(undefined);
  for (const signal of [one, other]) if (signal !== undefined) limit.follow(signal);
  try {
    return await work(limit.signal);
  } finally {
    limit.end();
  }
}

/**
 * Makes the parts of a cache, and connects them. Those that work on the local data are the parts of an {@link Epoch}.
 */
export function openParts(options: TakenOptions) {
  const {
    store: localStore,
    feed: ownFeed,
    channel,
    flag,
    isDurable,
    isOwn,
  } = openLocalStore(options.local, options.owner, () => epoch.listeners.lost());
  const storage = { kind: 'cache', durable: isDurable };
  const diagnostics = Diagnostics.of(options, storage);
  const tabs = new Tabs(channel);
  const board = new StatusBoard(tabs.own, (message) => tabs.post('status', message));
  const background = new Background(() => core.calls.requireOpen());
  const run = background.run.bind(background);
  const forgetListeners = new Set<() => void>();
  /** Opens another epoch, because the local data was forgotten. */
  const renew = (): void => {
    const ended = epoch;
    epoch = open(ended);
    // The new epoch may lead, and has heard of no tab what it reads.
    tabs.post('opened');
    for (const listener of forgetListeners) listener();
    // An open of this tab may have made the Cache again after the tab that forgets has deleted it.
    run(() => Promise.all([ended.forget(), forgetFiles()])).catch(ended.report);
  };
  /** The browser's Cache with the files that were opened. What is in memory alone stays there. */
  const cacheName = isDurable ? `adk-session-wasm:files:${options.owner}` : undefined;
  const forgetFiles = async (): Promise<void> => {
    // Some private windows refuse it, and have kept nothing.
    if (cacheName !== undefined) await globalThis.caches?.delete(cacheName).catch(() => false);
  };
  const forgetting = new GroupedQueue<undefined>(async () => {
    const { data } = epoch;
    renew();
    await forgetFiles();
    const client = await data.forget();
    tabs.post('forget', client);
    // A call that has begun meanwhile may still have found the data.
    if (client !== '' && epoch.data.client === client) renew();
    epoch.rescan();
  });
  const forget = (): Promise<void> => forgetting.call('', undefined);
  const remoteCore = coreOf(options.remote);
  // The remote may be of this process. It then computes the histories that are sent to it.
  remoteCore.computeHistoriesBy(loadHistories);
  const tab = {
    options,
    localStore,
    flag,
    ownFeed,
    tabs,
    board,
    diagnostics,
    background,
    remoteCore,
    loadHistories,
    clock: checkedClock(options.clock ?? Date.now),
    onForgetOrder: () => void run(forget).catch((error: unknown) => epoch.report(error)),
  };
  const open = (earlier?: Epoch): Epoch => {
    const onForgotten = (): void => {
      // Several transactions may find that the data were forgotten.
      if (opened !== epoch) return;
      forgotten = opened.data.client;
      renew();
      epoch.rescan();
    };
    const opened = openEpoch({ ...tab, onForgotten }, earlier?.data);
    return opened;
  };
  /** The client whose data this tab last found to be forgotten; `''` if none. */
  let forgotten = '';
  let epoch = open();

  const stopListening = tabs.listen({
    forget(client) {
      // This tab may know it already, and have begun new data. A call since then must not end with `aborted`.
      const isOther = epoch.data.client !== client;
      if (isOther && (epoch.data.client !== '' || client === forgotten)) return;
      renew();
      epoch.rescan();
    },
    status: (message) => board.receive(message),
    opened: () => epoch.listeners.opened(),
    wake: () => epoch.listeners.wake(),
    failed: (failure) => epoch.listeners.failed(failure),
    closed: () => epoch.listeners.closed(),
    changed: (name) => epoch.listeners.changed(name),
    reads: (name) => epoch.listeners.reads(name),
    lost: () => epoch.listeners.lost(),
    missed() {
      tabs.post('opened');
      epoch.listeners.missed();
    },
  });
  const goOnline = (): void => epoch.sender.wake();
  globalThis.addEventListener?.('online', goOnline);

  /** Begins a call of the program. It keeps the present epoch. */
  const presentEpoch = (): Epoch => {
    epoch.data.mayBegin();
    return epoch;
  };
  const agent = tab.remoteCore.serverAgent;
  const { readTimeoutMs } = options;
  const core: ServiceCore = new ServiceCore(
    {
      storage,
      rules,
      serverAgent: agent && {
        get isThere() {
          return agent.isThere;
        },
        get maxBodyBytes() {
          return agent.maxBodyBytes;
        },
        get isApiServer() {
          return agent.isApiServer;
        },
        channelName: agent.channelName,
        reach: () => call(({ remote }) => remote.request((store, request) => store.open(request))),
        hasPlainCopies: ({ appName, userId }) =>
          call(async ({ data }) => {
            const [first] = await data.read(({ copies }) => copies.copied({ appName, userId }));
            return first === undefined ? undefined : first[1].copy.created === null;
          }),
        find: () => agent.find(),
        follow(key, listener) {
          const { fetch, remote } = epoch;
          const { appName, userId, sessionId } = key;
          if (sessionId === undefined) return agent.follow(key, listener);
          const session = { appName, userId, sessionId };
          const bringUp = () => run(() => fetch.refresh(session));
          const checkLogin = () => run(() => remote.checkLogin({ appName, userId }));
          const stop = followRuns({ agent, board, bringUp, checkLogin }, session, listener);
          const end = (): void => {
            forgetListeners.delete(end);
            stop();
          };
          forgetListeners.add(end);
          return end;
        },
        openMessage: (key) => agent.openMessage?.(key),
        async cancel({ appName, userId, sessionId, messageId, signal }) {
          const key = { appName, userId, sessionId };
          if (messageId !== undefined && (await outbox.giveUp(key, messageId))) return true;
          const cancel = (own: Call) => agent.cancel({ ...key, messageId, signal: own.signal });
          try {
            return await call(({ remote }) =>
              untilAborted(
                signal,
                remote.request((_, own) => cancel(own)),
              ),
            );
          } catch (error) {
            // A session that the remote does not have has no run either.
            if (isSessionError(error, 'not_found')) return false;
            throw error;
          }
        },
      },
      openStore: () => epochStore(() => epoch.store),
      loadArtifacts: async () => {
        const { cachedArtifacts } = await loadChunk(() => import('./cached_artifacts.js'));
        const { readTimeoutMs, remote } = options;
        return cachedArtifacts({
          cacheName,
          forgetFiles,
          readTimeoutMs,
          endsWithin,
          isOutage,
          ask: (work, signal, created) =>
            call(async (epoch) => {
              if (created !== undefined) await sendSession(epoch, created, signal);
              return epoch.remote.request((_, own) =>
                untilEither(own.signal, signal, (either) => work(remote.artifacts, either)),
              );
            }),
          isPresent: ({ store }) => store === epoch.store,
        });
      },
      beginCall: () => presentEpoch().store,
      epochs: {
        present: () => epoch.store,
        onForgotten(listener) {
          forgetListeners.add(listener);
          return () => void forgetListeners.delete(listener);
        },
      },
      unsentSessions: ({ appName, userId }) =>
        board.status.pending.flatMap(({ key }) =>
          key.appName === appName && key.userId === userId ? (key.sessionId ?? []) : [],
        ),
      refusedOfSessions: (of) => refusedOfSessions(epoch.pending.refused(), of),
      untilSent: (key) =>
        call(async ({ pending, sender }) => {
          await pending.refresh(key);
          const sending = sender.waitFor([nameOf(key)]);
          if (await endsWithin(readTimeoutMs, sending)) return sending;
          const message = `The remote has not taken what waits for it within ${readTimeoutMs} ms.`;
          throw new SessionError('connection_lost', message, { storage: 'cache' });
        }),
      feed: ownFeed,
      closing() {
        stopListening();
        globalThis.removeEventListener?.('online', goOnline);
        epoch.end(closedError());
      },
      async closeStorage() {
        await epoch.settled(closedError());
        await background.settled();
        if (await epoch.leadership.release()) tabs.post('closed');
        board.close();
        await flag?.putNote();
        if (isOwn) await localStore.close();
      },
    },
    options,
  );

  /** Runs a call of the program, unlike the work of the background. */
  const call = <T>(work: (epoch: Epoch) => Promise<T>): Promise<T> => {
    const result = run(() => work(presentEpoch()));
    holdProgramUntil(result);
    return result;
  };
  const acknowledgeLoss = (): Promise<void> =>
    call(async ({ data }) => {
      await data.write((transaction) => transaction.acknowledgeLoss());
      tabs.post('lost');
    });
  const outbox = new Outbox({ clock: tab.clock, call });
  // A page that is offline at its first write has the rules then. After a failure the write loads them again.
  void Promise.resolve()
    .then(() => loadWasm(false, rules))
    .catch(() => undefined);
  // Sends what an earlier visit left.
  void Promise.resolve()
    .then(() => tabs.post('opened'))
    .then(() => run(() => epoch.pending.scan()))
    .then(() => epoch.sender.wake())
    .catch((error: unknown) => epoch.report(error));
  return {
    core,
    board,
    readTimeoutMs,
    remoteService: options.remote,
    outbox,
    forget,
    acknowledgeLoss,
    call,
    presentEpoch,
  };
}
