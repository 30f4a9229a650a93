// A run that another device cancels, or another process over the same database.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { coreOf } from '../../../../js/core/core_of.js';
import type { RunReport } from '../../../../js/core/run_report.js';
import type { Event } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { textsOf } from '../../ui/live/runs/agents.js';
import {
  askAgent,
  cancel,
  createSession,
  eventsOf,
  keyOf,
  until,
  untilText,
} from './servers/client.js';
import { RunLog, type ServerProcess, startAgentServer } from './servers/server_process.js';

const codesOf = (events: readonly Event[]) => events.map(({ errorCode }) => errorCode);

/** @param urlOf makes the URL of an empty database */
export function endsElsewhere(
  title: string,
  urlOf: (log: RunLog) => string | Promise<string>,
): void {
  describe(`A run over ${title} that is cancelled`, () => {
    const log = new RunLog();
    let one: ServerProcess;
    let other: ServerProcess;
    before(async () => {
      const options = { url: await urlOf(log), log: log.path };
      [one, other] = await Promise.all([startAgentServer(options), startAgentServer(options)]);
    });
    after(async () => {
      await Promise.all([one, other].map((server) => server[Symbol.asyncDispose]()));
      log.remove();
    });

    /** Begins a run, and a device that follows it. */
    async function beginRun(sessionId: string) {
      const message = `slow ${sessionId}`;
      await createSession(one.origin, sessionId);
      const remote = new RemoteSessionService({ url: one.origin });
      const { appName, userId } = keyOf(sessionId);
      remote.watch({ appName, userId }, { onNotice: () => undefined });
      const reports: (RunReport | undefined)[] = [];
      coreOf(remote)?.serverAgent?.follow(keyOf(sessionId), (report) => reports.push(report));
      assert.equal((await askAgent(one.origin, sessionId, message)).status, 200);
      const reported = (isIt: (report: RunReport) => boolean) =>
        until(
          () => reports.some((report) => report !== undefined && isIt(report)),
          () => reports,
        );
      await reported(({ drafts }) => drafts.length > 0);
      return { message, reported, remote };
    }

    it('by another device ends with its text so far, and the first device sees it', async () => {
      const { message, reported, remote } = await beginRun('device');
      await using second = new RemoteSessionService({ url: one.origin });
      assert.equal(await second.cancelRun({ ...keyOf('device'), messageId: message }), true);
      const [, text, endEvent, ...more] = await eventsOf(one.origin, 'device');
      assert.deepEqual([text?.interrupted, more], [true, []]);
      assert.match(textsOf([text!])[0]!, /^0 1 /);
      assert.equal(endEvent?.errorCode, 'INVOCATION_ABORTED');
      await reported(({ status }) => status === 'cancelled');
      assert.equal(await second.cancelRun({ ...keyOf('device'), messageId: message }), false);
      await remote.close();
    });

    it('by another process stores nothing more, and frees its session', async () => {
      const { message, reported, remote } = await beginRun('process');
      const { body } = await cancel(other.origin, 'process', message);
      assert.deepEqual(body, { cancelled: true });
      one.child.send(message);
      await reported(({ status }) => status === 'cancelled');
      const events = await eventsOf(one.origin, 'process');
      assert.deepEqual(codesOf(events), [undefined, 'INVOCATION_ABORTED']);
      assert.equal((await askAgent(one.origin, 'process', 'Hi')).status, 200);
      await untilText(one.origin, 'process', 'Hi!');
      await remote.close();
    });

    it('by a device and another process at once stores its end event once', async () => {
      const { message, reported, remote } = await beginRun('both');
      const answers = await Promise.all(
        [one, other].map(({ origin }) => cancel(origin, 'both', message)),
      );
      for (const { status } of answers) assert.equal(status, 200);
      await reported(({ status }) => status === 'cancelled');
      const codes = codesOf(await eventsOf(one.origin, 'both'));
      assert.equal(codes.filter((code) => code !== undefined).length, 1);
      assert.equal(codes.at(-1), 'INVOCATION_ABORTED');
      await remote.close();
    });
  });
}
