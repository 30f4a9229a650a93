import { requireId } from '../model/ids.js';
import { ownMembers } from '../members/own.js';
import { kindOf } from '../json/rules.js';
import { copyRequest } from '../call/call.js';
import { invalid } from '../errors/invalid.js';
import type { CreatedSession, Floor, Scopes } from '../storage/session_store.js';
import type { AppendAnswer } from '../wasm/protocol.js';
import { Feed } from './feed.js';
import type { ChangeNotice, ListenOptions, Notices, WatchOptions, WatchRequest } from './notice.js';
import { Watcher } from './watcher.js';

/**
 * Connects one service with a {@link Feed}. It publishes the results of the core as notices, and ends its
 * watchers when the service is closed. It costs almost nothing while nobody listens.
 */
export class ServiceFeed {
  readonly #feed: Feed;
  readonly #watchers = new Set<Watcher>();

  constructor(feed = new Feed()) {
    this.#feed = feed;
    feed.retain();
  }

  /** Ends all watchers after they have received their pending notices. */
  close(): void {
    for (const watcher of this.#watchers) watcher.finish();
    this.#feed.release();
  }

  /** Whether anyone receives the notices. */
  get hasReceivers(): boolean {
    return this.#feed.hasReceivers;
  }

  watch(given: WatchRequest, options: ListenOptions | WatchOptions): Notices | (() => void) {
    const request = copyRequest(given);
    requireWatchKeys(request);
    const { signal, onNotice } = ownMembers(options);
    if (onNotice !== undefined && typeof onNotice !== 'function') {
      throw invalid('onNotice', `must be a function; it is ${kindOf(onNotice)}`);
    }
    const watcher = new Watcher(request, onNotice);
    if (signal?.aborted === true) watcher.stop();
    else this.#start(watcher, signal);
    return onNotice === undefined ? watcher : watcher.stop;
  }

  #start(watcher: Watcher, signal: AbortSignal | undefined): void {
    this.#watchers.add(watcher);
    this.#feed.add(watcher);
    signal?.addEventListener('abort', watcher.stop);
    watcher.onEnd(() => {
      this.#watchers.delete(watcher);
      signal?.removeEventListener('abort', watcher.stop);
    });
  }

  publishCreated(
    appName: string,
    userId: string,
    sessionId: string,
    created: CreatedSession,
  ): void {
    const [, revision, , , , user, app] = created;
    this.#feed.publish([
      { type: 'created', appName, userId, sessionId, revision },
      ...stateNotices(appName, userId, user, app),
    ]);
  }

  publishAppended(
    appName: string,
    userId: string,
    sessionId: string,
    appended: AppendAnswer,
    count: number,
  ): void {
    if (!this.hasReceivers) return;
    const [, revision, , since, user, app, unchanged] = appended;
    // A retry of events that are stored already. It is published only if the handle was behind: then perhaps
    // only the response to the first attempt was lost, and nobody has been notified yet.
    if (unchanged?.length === count && revision <= since) return;
    this.#feed.publish([
      { type: 'appended', appName, userId, sessionId, revision },
      ...stateNotices(appName, userId, user, app),
    ]);
  }

  stateChangePublisher(
    appName: string,
    userId: string | undefined,
  ): (scopes: Scopes | undefined) => void {
    return (scopes) => {
      if (scopes !== undefined) this.#feed.publish(stateNotices(appName, userId, ...scopes));
    };
  }

  stateDeletionPublisher(appName: string, userId: string | undefined): (floor: Floor) => void {
    return (floor) => {
      this.#feed.publish([stateNotice(appName, userId, floor)]);
    };
  }

  deletionPublisher(appName: string, userId: string, sessionId: string): (floor: Floor) => void {
    return (floor) => {
      this.#feed.publish([
        { type: 'deleted', appName, userId, sessionId, ...revisionMemberOf(floor) },
      ]);
    };
  }

  userDeletionPublisher(appName: string, userId: string): (floor: Floor) => void {
    return (floor) => {
      this.#feed.publish([
        { type: 'deleted', appName, userId, ...revisionMemberOf(floor) },
        stateNotice(appName, userId, floor),
      ]);
    };
  }
}

function stateNotices(
  appName: string,
  userId: string | undefined,
  user: number,
  app: number,
): ChangeNotice[] {
  const notices: ChangeNotice[] = [];
  if (user > 0) notices.push(stateNotice(appName, userId, user));
  if (app > 0) notices.push(stateNotice(appName, undefined, app));
  return notices;
}

function stateNotice(appName: string, userId: string | undefined, revision: Floor): ChangeNotice {
  const revisionMember = revisionMemberOf(revision);
  return userId === undefined
    ? { type: 'stateChanged', scope: 'app', appName, ...revisionMember }
    : { type: 'stateChanged', scope: 'user', appName, userId, ...revisionMember };
}

function revisionMemberOf(revision: Floor): { revision?: number } {
  return revision === undefined ? {} : { revision };
}

function requireWatchKeys({ appName, userId, sessionId }: WatchRequest): void {
  requireId('appName', appName);
  if (userId !== undefined) requireId('userId', userId);
  if (sessionId === undefined) return;
  requireId('sessionId', sessionId);
  if (userId === undefined) throw invalid('userId', 'must be given with a sessionId');
}
