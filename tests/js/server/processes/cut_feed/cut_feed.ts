// A user's feed that is cut while many runs stream.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { coreOf } from '../../../../../js/core/core_of.js';
import type { RunReport } from '../../../../../js/core/run_report.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import type { Notice } from '../../../../../js/values/model/notice.js';
import { startFreezingProxy } from '../../../stores/database/proxies/freezing_proxy.js';
import { textsOf } from '../../../ui/live/runs/agents.js';
import { askAgent, createSession, eventsOf, keyOf, until } from '../servers/client.js';
import { RunLog, startAgentServer } from '../servers/server_process.js';

const RUNS = 200;
/** The runs that end while the feed is cut. */
const ENDING = 20;
const PACE_MS = 500;

const sessionIds = Array.from({ length: RUNS }, (_, number) => `s${number}`);
/** The beginning of the messages: those of the first sessions end earlier. */
const beginningOf = (sessionId: string): string =>
  Number(sessionId.slice(1)) < ENDING ? 'slow first' : 'slow rest';

/** @param cutMs how long the feed is away */
export function followsAfterCut(cutMs: number): void {
  it(`A feed of ${RUNS} runs that is cut for ${cutMs / 1000} s goes on with whole drafts, and without resync`, async (test) => {
    const log = new RunLog();
    const server = await startAgentServer({
      url: log.sqliteUrl,
      log: log.path,
      maxRuns: RUNS,
      paceMs: PACE_MS,
    });
    const { port } = server;
    let proxy = await startFreezingProxy(port);
    const remote = new RemoteSessionService({ url: `http://127.0.0.1:${proxy.port}` });
    test.after(async () => {
      await remote.close();
      await proxy.close();
      await server[Symbol.asyncDispose]();
      log.remove();
    });
    const notices: Notice[] = [];
    const { appName, userId } = keyOf('');
    remote.watch({ appName, userId }, { onNotice: (notice) => notices.push(notice) });
    const reports = new Map<string, RunReport | undefined>();
    for (const sessionId of sessionIds) {
      const follow = (report: RunReport | undefined) => reports.set(sessionId, report);
      coreOf(remote)?.serverAgent?.follow(keyOf(sessionId), follow);
    }
    const lengths = () => sessionIds.map((sessionId) => draftOf(reports.get(sessionId)).length);
    const every = (isTrue: (sessionId: string) => boolean) =>
      until(
        () => sessionIds.every(isTrue),
        () => lengths(),
      );

    await until(
      () => notices.length > 0,
      () => notices,
    );
    await Promise.all(sessionIds.map((sessionId) => createSession(server.origin, sessionId)));
    const asked = sessionIds.map((sessionId) =>
      askAgent(server.origin, sessionId, `${beginningOf(sessionId)} ${sessionId}`),
    );
    for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
    await every((sessionId) => draftOf(reports.get(sessionId)).length > 1);

    const ownPort = proxy.port;
    await proxy.close();
    const before = await settled(lengths);
    notices.length = 0;
    server.child.send('slow first');
    await pause(cutMs);
    assert.deepEqual([lengths(), notices], [before, []]);
    proxy = await startFreezingProxy(port, ownPort);

    // Each draft has grown by more than half of what was streamed meanwhile, and none has a gap.
    const grown = Math.floor(cutMs / PACE_MS / 2);
    await every((sessionId) =>
      beginningOf(sessionId) === 'slow first'
        ? reports.get(sessionId) === undefined
        : draftOf(reports.get(sessionId)).length > before[sessionIds.indexOf(sessionId)]! + grown,
    );
    server.child.send('slow rest');
    await every((sessionId) => reports.get(sessionId)?.status !== 'running');
    const answered = () =>
      new Set(notices.flatMap((notice) => (notice.type === 'appended' ? [notice.sessionId] : [])));
    await until(
      () => answered().size === RUNS,
      () => answered().size,
    );
    assert.deepEqual(new Set(notices.map(({ type }) => type)), new Set(['appended']));
    for (const sessionId of sessionIds) {
      const events = await eventsOf(server.origin, sessionId);
      assert.equal(events.length, 2);
      requireWhole(textsOf(events)[1]!);
    }
  });
}

/** Returns the partial events of a report's draft. */
function draftOf(report: RunReport | undefined): readonly string[] {
  const [text = ''] = textsOf(report?.drafts.map(({ event }) => event) ?? []);
  return requireWhole(text);
}

/** Returns the partial events of a slow answer. Fails if one of them is missing. */
function requireWhole(text: string): readonly string[] {
  const partials = text.split(' ').filter(Boolean);
  assert.deepEqual(partials, Object.keys(partials));
  return partials;
}

/** Returns the lengths once they stay the same: what was on its way when the feed was cut is still read. */
async function settled(lengths: () => readonly number[]): Promise<readonly number[]> {
  for (let before = lengths(); ;) {
    await pause(200);
    const now = lengths();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}
