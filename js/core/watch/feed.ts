import { putLast } from '../../values/bounded_map.js';
import type { Notice } from '../../values/model/notice.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateOwner } from '../storage/scopes.js';
import { NOTICE_MESSAGES } from './notice_messages.js';
import type { ProcessLink } from './process_link.js';
import { StateRevisions, type WrittenState } from './state_revisions.js';
import type { TabChannel, TabPort } from './tab_channel.js';
import type { Watcher } from './watcher.js';

/**
 * Delivers notices of changes to all watchers of one storage in this realm. All services over that storage
 * publish to it. Over IndexedDB, a channel also connects it with the other tabs; over a database that several
 * processes share, with those that have the option `channel`.
 */
export class Feed {
  /** The runs of the storage, which its services remember. */
  readonly runRevisions = new RunRevisions();
  /** When its shared states were last written. */
  readonly stateRevisions = new StateRevisions();
  readonly #watchers = new Set<Watcher>();
  readonly #port: TabPort<Notice> | undefined;
  #serviceCount = 0;
  /** See `SharedFeed`. */
  readonly channelName: string | undefined;
  /** See `SharedFeed`. */
  writes = 0;

  /** @param channel connects the other tabs, or the other processes */
  constructor(channel?: TabChannel) {
    this.channelName = channel?.name;
    this.#port = channel?.port(NOTICE_MESSAGES, this);
  }

  /** Whether a change has to be published: someone here watches, or other tabs may. */
  get hasReceivers(): boolean {
    return this.#watchers.size > 0 || this.#port !== undefined;
  }

  /** Connects the server processes that share the storage. Absent: nothing does. */
  get processes(): ProcessLink | undefined {
    return undefined;
  }

  /** Whether notices of an owner come already, so that a new watcher hears no `resync` first. Absent: never. */
  isOpenFor?(owner: StateOwner): boolean;

  /** See `SharedFeed`. */
  onOpen?(listener: () => void): () => void;

  /** Counts one more service. The last one that releases the feed leaves the channel. */
  retain(): void {
    this.#serviceCount += 1;
    this.#port?.start();
  }

  release(): void {
    this.#serviceCount -= 1;
    if (!this.isUsed) this.#port?.close();
  }

  /** Whether a service has the feed. */
  get isUsed(): boolean {
    return this.#serviceCount > 0;
  }

  /** Delivers notices to the watcher from now on, until it has ended. */
  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    watcher.onEnd(() => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.listen(false);
    });
    this.listen(true);
  }

  /** Sets whether notices of other tabs or processes are wanted. */
  protected listen(isListening: boolean): void {
    this.#port?.listen(isListening);
  }

  /** Notes that a service of this realm has written a shared state. */
  noteState(state: WrittenState): void {
    this.stateRevisions.note(state);
  }

  /** Publishes committed changes, here and in other tabs and processes. */
  publish(notices: readonly Notice[]): void {
    if (notices.length === 0) return;
    this.deliver(notices);
    this.#port?.send(notices);
  }

  /** Resolves once the channel of other processes has what was published. They have no other way to hear of a deletion. */
  sent(): Promise<void> | undefined {
    return undefined;
  }

  /**
   * Delivers notices to the watchers of this realm: those of other tabs, and a `resync` if the storage may have
   * missed changes, for example after a lost connection was reopened.
   */
  deliver(notices: readonly Notice[]): void {
    for (const watcher of this.#watchers) watcher.push(notices);
  }

  /** Called when notices of other tabs or processes may have been missed. */
  missed(): void {
    this.deliver([{ type: 'resync' }]);
  }
}

/** The most runs that are remembered. */
const MOST_RUNS = 1000;

/** An event by its invocation. */
interface OfInvocation {
  readonly invocationId: string;
}

/**
 * The runs of a storage: up to which revision each was neither cancelled nor undone. Appends of a run are refused
 * behind its end from there, whatever handle they go through. A run that has fallen out, and an invocation that is no
 * run, are checked by the handle alone.
 *
 * A run of an earlier session with the same id stays. Its revision is lower than the one that created the session.
 */
export class RunRevisions {
  readonly #revisions = new Map<string, number>();

  /** Begins a run, or begins it again, at the revision of its message. */
  begin(key: CompositeSessionKey, invocationId: string, revision: number): void {
    putLast(this.#revisions, invocationName(key, invocationId), revision, MOST_RUNS);
  }

  /**
   * Returns the revision of the run that events belong to, the lowest of several; `undefined` if none belongs to a run.
   */
  of(key: CompositeSessionKey, events: readonly OfInvocation[]): number | undefined {
    if (this.#revisions.size === 0) return undefined;
    let lowest: number | undefined;
    for (const { invocationId } of events) {
      const revision = this.#revisions.get(invocationName(key, invocationId));
      if (revision !== undefined && !(revision > lowest!)) lowest = revision;
    }
    return lowest;
  }

  /**
   * Notes that events were stored, so that their runs had not ended before.
   *
   * @param created the revision that created the session
   */
  advance(
    key: CompositeSessionKey,
    events: readonly OfInvocation[],
    { created, revision }: { readonly created: number; readonly revision: number },
  ): void {
    for (const { invocationId } of events) {
      const name = invocationName(key, invocationId);
      const known = this.#revisions.get(name);
      if (known !== undefined && known >= created) {
        putLast(this.#revisions, name, Math.max(known, revision), MOST_RUNS);
      }
    }
  }
}

/** Other sessions and invocations have other names. The lengths take less time than JSON. */
function invocationName(
  { appName, userId, sessionId }: CompositeSessionKey,
  invocation: string,
): string {
  return `${appName.length},${userId.length},${invocation.length},${appName}${userId}${invocation}${sessionId}`;
}
