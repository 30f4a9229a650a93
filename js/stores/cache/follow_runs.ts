import type { ServerAgent } from '../../core/core_of.js';
import type { RunReport } from '../../core/run_report.js';
import type { CompositeSessionKey } from '../../values/model/session.js';

/**
 * Follows the run of a session, as {@link ServerAgent.follow}. The end of a run is told once the copy has its events: a
 * reader that hears of it then finds them.
 *
 * @param bringUp brings the copy up to date
 */
export function followRuns(
  agent: ServerAgent,
  key: CompositeSessionKey,
  bringUp: () => Promise<unknown>,
  listener: (report: RunReport | undefined) => void,
): () => void {
  let running: string | undefined;
  let isStopped = false;
  /** The reports that wait, in order. */
  let waiting = 0;
  let told = Promise.resolve();
  const stop = agent.follow(key, (report) => {
    const isSame = report?.status === 'running' && report.messageId === running;
    const isEnd = !isSame && (running !== undefined || (report && report.status !== 'running'));
    running = report?.status === 'running' ? report.messageId : undefined;
    if (isEnd !== true && waiting === 0) return listener(report);
    waiting += 1;
    told = told.then(async () => {
      // Without the remote, the copy is as new as it can be.
      if (isEnd === true) await bringUp().catch(() => undefined);
      waiting -= 1;
      if (!isStopped) listener(report);
    });
  });
  return () => {
    isStopped = true;
    stop();
  };
}
