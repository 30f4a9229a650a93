import type { ServerAgent } from '../../core/core_of.js';
import type { ReportListener, RunReport } from '../../core/run_report.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StatusBoard } from './records/status.js';

/** What the runs of a remote are followed with. */
export interface FollowedRemote {
  readonly agent: ServerAgent;
  readonly board: StatusBoard;
  /** Brings the copy up to date. */
  readonly bringUp: () => Promise<unknown>;
  /** Finds out whether the remote wants another login. */
  readonly checkLogin: () => Promise<unknown>;
}

/**
 * Follows the run of a session, as {@link ServerAgent.follow}. The end of a run is told once the copy has its events: a
 * reader that hears of it then finds them. A feed that the remote has ended is opened again after the next login, in
 * each tab.
 */
export function followRuns(
  { agent, board, bringUp, checkLogin }: FollowedRemote,
  key: CompositeSessionKey,
  listener: ReportListener,
): () => void {
  let running: string | undefined;
  /** The last report, if it was the end of a run. */
  let ended: RunReport | undefined;
  let isStopped = false;
  /** The number of reports that wait. */
  let waiting = 0;
  /** Passes the reports on, in their order. */
  let told = Promise.resolve();
  let stopFeed = (): void => undefined;
  /** Whether the remote has ended the feed. */
  let isEnded = false;
  /** Whether a report has come since the feed was opened. If not, the remote may refuse the feed and nothing else. */
  let hasTold = false;
  let wasUp = true;

  const take: ReportListener = (report, isKnown) => {
    if (isKnown) hasTold = true;
    else {
      isEnded = true;
      void checkLogin().catch(() => undefined);
    }
    const isSame = report?.status === 'running' && report.messageId === running;
    const end = report?.status === 'running' ? undefined : report;
    const isRepeated = end?.messageId === ended?.messageId && end?.status === ended?.status;
    const isEnd = !isSame && (running !== undefined || (end !== undefined && !isRepeated));
    running = report?.status === 'running' ? report.messageId : undefined;
    ended = end;
    const isBehind = isKnown && isEnd;
    if (!isBehind && waiting === 0) return listener(report, isKnown);
    waiting += 1;
    told = told.then(async () => {
      // Without the remote, the copy is as new as it can be.
      if (isBehind) await bringUp().catch(() => undefined);
      waiting -= 1;
      if (!isStopped) listener(report, isKnown);
    });
  };
  const stopListening = board.listen(({ isOnline, isSignedOut }) => {
    const isUp = isOnline && !isSignedOut;
    const mayOpen = isUp && isEnded && (hasTold || !wasUp);
    wasUp = isUp;
    if (!mayOpen) return;
    isEnded = false;
    hasTold = false;
    stopFeed();
    stopFeed = agent.follow(key, take);
  });
  stopFeed = agent.follow(key, take);
  return () => {
    isStopped = true;
    stopListening();
    stopFeed();
  };
}
