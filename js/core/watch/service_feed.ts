/**
 * Notices of changes: from the write of a service to watchers here and in other tabs.
 *
 * The folder reads no storage: a watcher reads again what a notice names.
 */
import type { CompositeSessionKey } from '../../values/model/session.js';
import { IS_OF_USER, NARROWEST_FIRST, type SharedScope } from '../../values/state/scope.js';
import { ownerOf, type StateOwner } from '../storage/scopes.js';
import type { Results, SharedRevisions } from '../storage/store.js';
import type { ReadyWrite, WriteKind } from '../write.js';
import { Feed } from './feed.js';
import { takeOptions, takeRequest } from '../call/call.js';
import { onAbort } from '../call/time_limit.js';
import { requireFunction } from '../../values/errors/option_values.js';
import type {
  ListenOptions,
  Notices,
  StopWatching,
  WatchOptions,
  WatchRequest,
} from '../../values/model/notice.js';
import { stateNotice, requireWatchKeys, Watcher } from './watcher.js';

/**
 * Connects one service with a {@link Feed}. It publishes the results of the core as notices, and ends its
 * watchers when the service is closed. It costs almost nothing while nobody listens.
 */
export class ServiceFeed {
  readonly feed: Feed;
  readonly #watchers = new Set<Watcher>();
  #isClosed = false;

  constructor(feed = new Feed()) {
    this.feed = feed;
    feed.retain();
  }

  /** Ends all watchers after they have received their pending notices. */
  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) watcher.finish();
    this.feed.release();
  }

  /** Whether anyone receives the notices. */
  get hasReceivers(): boolean {
    return this.feed.hasReceivers;
  }

  watch(given: WatchRequest, options: ListenOptions | WatchOptions): Notices | StopWatching {
    const request = takeRequest(given);
    requireWatchKeys(request);
    const { signal, onNotice, onEnd } = takeOptions<ListenOptions | WatchOptions>(options);
    if (onNotice !== undefined) requireFunction('onNotice', onNotice);
    if (onEnd !== undefined) requireFunction('onEnd', onEnd);
    const watcher = new Watcher(request, onNotice);
    if (onEnd !== undefined) watcher.onEnd(onEnd);
    if (signal?.aborted === true || this.#isClosed) watcher.stop();
    else this.#start(watcher, signal);
    return onNotice === undefined ? watcher : watcher.stop;
  }

  #start(watcher: Watcher, signal: AbortSignal | undefined): void {
    this.#watchers.add(watcher);
    this.feed.add(watcher);
    const ignore = signal && onAbort(signal, watcher.stop);
    watcher.onEnd(() => {
      this.#watchers.delete(watcher);
      ignore?.();
    });
  }

  /** Publishes what a write has changed. */
  publish<Kind extends WriteKind>(write: ReadyWrite<Kind>, written: Results[Kind]): void {
    this.feed.writes += 1;
    const publishers: Publishers = this.#publishers;
    publishers[write.kind](write, written);
  }

  readonly #publishers: Publishers = {
    create: ({ key }, created) => {
      if (created === undefined || !this.hasReceivers) return;
      const { revision, shared } = created;
      const scopes = this.#noteStates(key, shared);
      this.feed.publish([{ type: 'created', ...namesOf(key), revision, scopes }]);
    },
    append: ({ key, events }, { revision, since, shared, unchanged }) => {
      if (!this.hasReceivers) return;
      const scopes = this.#noteStates(key, shared);
      const isBehind = since !== undefined && revision > since;
      // A retry of events that are stored already. It is published only if the handle was behind: then perhaps
      // only the response to the first attempt was lost, and nobody has been notified yet.
      if (unchanged.length === events.length && !isBehind) return;
      this.feed.publish([{ type: 'appended', ...namesOf(key), revision, scopes }]);
    },
    describe: ({ key }, isThere) => {
      if (isThere) this.feed.publish([{ type: 'updated', ...namesOf(key) }]);
    },
    update: ({ key }, shared) => {
      const { appName, userId } = key;
      const scopes = this.#noteStates(key, shared);
      if (scopes.length > 0) this.feed.publish([stateNotice(appName, userId, scopes)]);
    },
    delete: (write, { isDeleted, floor }) => {
      if (!isDeleted) return;
      const revision = floor === undefined ? {} : { revision: floor };
      switch (write.what) {
        case 'session':
          return this.feed.publish([{ type: 'deleted', ...namesOf(write.key), ...revision }]);
        case 'user': {
          const { appName, userId } = write.key;
          for (const scope of NARROWEST_FIRST) {
            if (IS_OF_USER[scope]) this.#noteState(scope, { appName, userId }, 0);
          }
          return this.feed.publish([{ type: 'deleted', appName, userId, ...revision }]);
        }
        case 'userState':
          return this.#publishStateDeleted('user', write.key);
        case 'appState':
          return this.#publishStateDeleted('app', write.key);
      }
    },
    rewind: ({ key }, { revision, shared }) => {
      if (!this.hasReceivers) return;
      const scopes = shared === undefined ? [] : this.#noteStates(key, shared);
      this.feed.publish([{ type: 'appended', ...namesOf(key), revision, scopes }]);
    },
    fork: ({ key, newSessionId }, { revision }) => {
      const names = namesOf({ ...key, sessionId: newSessionId });
      this.feed.publish([{ type: 'created', ...names, revision, scopes: [] }]);
    },
  };

  #publishStateDeleted(scope: SharedScope, { appName, userId }: StateOwner): void {
    this.#noteState(scope, { appName, userId }, 0);
    this.feed.publish([stateNotice(appName, userId, [scope])]);
  }

  /** @returns the scopes that changed */
  #noteStates(names: StateOwner, shared: SharedRevisions): SharedScope[] {
    const scopes = NARROWEST_FIRST.filter((scope) => shared[scope] > 0);
    for (const scope of scopes) this.#noteState(scope, names, shared[scope]);
    return scopes;
  }

  #noteState(scope: SharedScope, names: StateOwner, revision: number): void {
    const { appName, userId } = ownerOf(scope, names);
    this.feed.noteState({ scope, appName, userId, revision });
  }
}

type Publishers = {
  readonly [Kind in WriteKind]: (write: ReadyWrite<Kind>, written: Results[Kind]) => void;
};

/** Returns the members of a key alone: a notice goes to the program. */
function namesOf({ appName, userId, sessionId }: CompositeSessionKey): CompositeSessionKey {
  return { appName, userId, sessionId };
}
