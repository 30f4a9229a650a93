/** The histories of a service: the verbs of its core, and those of a store that computes none. */
import type { Call } from '../core/call/call.js';
import type { Calls } from '../core/call/calls.js';
import { endsWithin } from '../core/call/time_limit.js';
import type { HistoryRules } from '../core/history/append_rewind.js';
import type { HistoriesLoader } from '../core/history/histories.js';
import type { ServiceHistory } from '../core/history_types.js';
import { type ReadResults, type ReadVerbs, runRead, type SessionRead } from '../core/read.js';
import {
  type Results,
  runWrite,
  type Store,
  type StoredRewind,
  type WriteVerbs,
} from '../core/storage/store.js';
import type { ServiceFeed } from '../core/watch/service_feed.js';
import type { ReadyWrite, ReadyRewind } from '../core/write.js';
import { sessionNotFound } from '../values/errors/invalid.js';
import type { ReaderParts } from './read/reader_parts.js';
import type { SessionReader } from './read/session_reader.js';

/** Milliseconds that an undone run may take to end. After that, nobody waits for it. */
const END_MS = 1000;

/** The parts of a core that its histories use. */
interface HistoryParts extends Pick<ReaderParts, 'callStore'> {
  readonly calls: Calls;
  readonly reader: SessionReader;
  readonly publisher: ServiceFeed;
  readonly newId: () => string;
  /** Stores a write, and publishes what it has changed. */
  write<Kind extends 'rewind' | 'fork'>(
    write: ReadyWrite<Kind>,
    call: Call,
  ): Promise<Results[Kind]>;
}

/** Makes the verbs of a service. */
export function serviceHistory(core: HistoryParts): ServiceHistory {
  const { calls, reader } = core;
  const read = async <Kind extends 'branches' | 'stateAt'>(
    request: SessionRead<Kind>,
    call: Call,
  ): Promise<ReadResults[Kind]> => {
    const found = await core.callStore<ReadResults[Kind] | undefined>(call, (store) =>
      store.read(request, call),
    );
    if (found === undefined) throw sessionNotFound(request.key.sessionId);
    return found;
  };
  return {
    rewind: (request, options = {}) =>
      calls.run('rewind', request, async (write, call) => {
        const { run, ...rewound } = await core.write({ ...write, options }, call);
        const { isNew, message, revision } = rewound;
        if (options.idempotencyKey !== undefined && isNew && message !== undefined) {
          core.publisher.feed.runRevisions.begin(write.key, message.invocationId, revision);
        }
        // What the run still appends is refused.
        await endsWithin(END_MS, run?.abort());
        return rewound;
      }),
    fork: (request) =>
      calls.run('fork', request, async (order, call) => {
        const { key, newSessionId = core.newId() } = order;
        const forked = await core.write({ ...order, kind: 'fork', newSessionId }, call);
        return reader.openForked({ ...key, sessionId: newSessionId }, forked);
      }),
    branches: (request) =>
      calls.run('branches', request, (request, call) =>
        read({ ...request, kind: 'branches' }, call),
      ),
    stateAt: (request) =>
      calls.run('stateAt', request, (request, call) => read({ ...request, kind: 'stateAt' }, call)),
  };
}

/** What {@link withHistories} needs of a service. */
interface StoreHistories extends HistoryRules {
  readonly load: HistoriesLoader;
}

/**
 * Returns a store that has the verbs of histories. Those of a store that has none are computed. A store that has them
 * is passed each rewind, once the rights of its request have been decided on.
 */
export function withHistories(store: Store, rules: StoreHistories): Store {
  const { load } = rules;
  const isComputed = store.traits.computesHistories !== true;
  const pass: Store['write'] = (write, call) => store.write(write, call);
  const verbs: WriteVerbs = {
    create: pass,
    append: pass,
    describe: pass,
    update: pass,
    delete: pass,
    rewind: async (write, call) =>
      isComputed
        ? (await load()).rewind(store, write, call, rules)
        : passRewindOn(store, write, load, call),
    fork: async (write, call) =>
      isComputed ? (await load()).fork(store, write, call, rules) : store.write(write, call),
  };
  const reads: Partial<ReadVerbs> = isComputed
    ? {
        branches: async (request, call) => (await load()).branches(store, request, call),
        stateAt: async (request, call) => (await load()).stateAt(store, request, call),
      }
    : {};
  return {
    traits: store.traits,
    sync: store.sync,
    get writeAll() {
      return store.writeAll;
    },
    read: (request, call) =>
      request.kind in reads
        ? runRead(reads as ReadVerbs, request, call)
        : store.read(request, call),
    write: (write, call) => runWrite(verbs, write, call),
    open: (call) => store.open(call),
    list: (request, call) => store.list(request, call),
    state: (request, call) => store.state(request, call),
    changes: async (request, call) => store.changes?.(request, call),
    search: async (request, call) => store.search?.(request, call),
    words: async (call) => store.words?.(call),
    close: () => store.close?.(),
  };
}

/** Passes a rewind on. The run that it ends here gets no end event: the undone branch has its stored events alone. */
async function passRewindOn(
  store: Store,
  { options: { admit, running } = {}, ...write }: ReadyRewind,
  load: HistoriesLoader,
  call: Call,
): Promise<StoredRewind> {
  let meant = write;
  if (admit !== undefined) {
    const decided = await (await load()).admit(store, write, admit, call);
    if ('stored' in decided) return decided.stored;
    meant = decided.admitted;
  }
  const run = await running?.();
  return { ...(await store.write(meant, call)), run };
}
