import type { Notice, SessionService } from '../../../../js/index.js';
import type { WatchRequest } from '../../../../js/values/model/notice.js';
import { APP } from '../../service/fixture.js';

/** The notices of a watcher, in a growing list. */
export function listen(service: SessionService, request: WatchRequest = APP): Notice[] {
  const notices: Notice[] = [];
  service.watch(request, { onNotice: (notice) => notices.push(notice) });
  return notices;
}

/** Waits for the delivery of notices, which is in a microtask. */
export const told = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Type, user, session and changed scopes. Without revisions, which each storage counts by itself. */
export function kinds(notices: readonly Notice[]): string[] {
  return notices.map((notice) => {
    if (notice.type === 'resync' || notice.type === 'lost') return notice.type;
    const session = notice.type === 'stateChanged' ? [] : [notice.sessionId ?? 'all'];
    const scopes = 'scopes' in notice ? notice.scopes : [];
    return [notice.type, notice.userId ?? '', ...session, ...scopes].join(' ');
  });
}

export function revisions(notices: readonly Notice[]): (number | undefined)[] {
  return notices.map((notice) => ('revision' in notice ? notice.revision : undefined));
}
