import { SessionError } from '../errors/errors.js';
import { Feed } from '../watch/feed.js';
import type { Notice, StopWatching } from '../model/notice.js';
import { Watcher } from '../watch/watcher.js';
import type { Records } from './records/records.js';

/**
 * The feed of a cache: that of its local storage, which all tabs share, with the names of the apps that hold the
 * copies. So a watcher gets the notices of one owner alone.
 */
export class CacheFeed extends Feed {
  readonly #inner: Feed;
  readonly #records: Records;

  constructor(inner: Feed, records: Records) {
    super();
    this.#inner = inner;
    this.#records = records;
  }

  override get hasReceivers(): boolean {
    return this.#inner.hasReceivers;
  }

  override retain(): void {
    this.#inner.retain();
  }

  override release(): void {
    this.#inner.release();
  }

  override add(watcher: Watcher): void {
    const { appName } = watcher.request;
    const request = { ...watcher.request, appName: this.#records.appOf(appName) };
    const inner = new Watcher(request, (notice) => {
      watcher.push(['appName' in notice ? { ...notice, appName } : notice]);
    });
    this.#inner.add(inner);
    watcher.onEnd(inner.stop);
  }

  override publish(notices: readonly Notice[]): void {
    this.#inner.publish(
      notices.map((notice) =>
        'appName' in notice ? { ...notice, appName: this.#records.appOf(notice.appName) } : notice,
      ),
    );
  }

  /** Sends a message to all tabs of this owner, as a notice of an app that holds no copies. It may be lost. */
  postMessage(message: readonly unknown[]): void {
    const { ownApp: appName } = this.#records;
    const userId = JSON.stringify(message);
    this.#inner.publish([{ type: 'stateChanged', scopes: ['user'], appName, userId }]);
  }

  /**
   * Receives the messages of all tabs, until the returned function is called.
   *
   * @param onMessage gets `undefined` if messages may have been missed
   * @param onLoss gets why the browser has lost the database
   */
  listen(
    onMessage: (message: readonly unknown[] | undefined) => void,
    onLoss: (error: SessionError) => void,
  ): StopWatching {
    const onNotice = (notice: Notice): void => {
      if (notice.type === 'lost') onLoss(new SessionError('storage_failed', notice.message));
      if (notice.type === 'resync' || notice.type === 'lost') onMessage(undefined);
      else if (notice.userId !== undefined) onMessage(JSON.parse(notice.userId) as unknown[]);
    };
    const watcher = new Watcher({ appName: this.#records.ownApp }, onNotice);
    this.#inner.add(watcher);
    return watcher.stop;
  }
}
