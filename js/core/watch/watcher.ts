import { Channel } from '../call/channel.js';
import type { Notice, Notices, WatchRequest } from '../../values/model/notice.js';
import { PendingNotices } from './pending_notices.js';
import { matchNotice } from './watch_request.js';

/** One watcher: its request, and the channel of the notices that match it. */
export class Watcher extends Channel<Notice> implements Notices {
  /** What is watched. */
  readonly request: Readonly<WatchRequest>;

  constructor({ appName, userId, sessionId }: WatchRequest, onNotice?: (notice: Notice) => void) {
    super(new PendingNotices(), onNotice);
    // A copy, since the caller may change and reuse the object.
    this.request = { appName, userId, sessionId };
  }

  override push(notices: readonly Notice[]): void {
    super.push(notices.flatMap((notice) => matchNotice(this.request, notice) ?? []));
  }
}
