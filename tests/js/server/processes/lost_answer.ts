// The answer to a message is cut at a byte. The message that is sent again starts nothing, and gets the stored event.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import {
  type FreezingProxy,
  startFreezingProxy,
} from '../../stores/database/proxies/freezing_proxy.js';
import { textsOf } from '../../ui/live/runs/agents.js';
import {
  askAgent,
  createSession,
  eventsOf,
  keyOf,
  messageOf,
  revisionsOf,
  untilText,
} from './servers/client.js';
import { RunLog, type ServerProcess, startAgentServer } from './servers/server_process.js';

/** @param step the bytes between two cuts */
export function survivesLostAnswers(step: number): void {
  describe('An answer that is cut', () => {
    const log = new RunLog();
    let server: ServerProcess;
    let proxy: FreezingProxy;
    let origin: string;
    before(async () => {
      server = await startAgentServer({ url: log.sqliteUrl, log: log.path });
      proxy = await startFreezingProxy(server.port);
      origin = `http://127.0.0.1:${proxy.port}`;
    });
    after(async () => {
      await proxy.close();
      await server[Symbol.asyncDispose]();
      log.remove();
    });

    it(`after every ${step} bytes runs nothing twice, and the next one has the stored event`, async (test) => {
      let lost = 0;
      for (let bytes = 0; ; bytes += step) {
        const sessionId = `s${bytes}`;
        const message = `look ${bytes}`;
        await createSession(server.origin, sessionId);
        proxy.cutResponse(bytes);
        const isLost = await askAgent(origin, sessionId, message).then(
          () => false,
          () => true,
        );
        // The whole answer has come.
        if (!isLost) break;
        lost += 1;
        const again = await askAgent(origin, sessionId, message);
        assert.equal(again.status, 200);
        const events = await untilText(server.origin, sessionId, 'Seen');
        assert.deepEqual(textsOf(events), [message, 'Let me look', '', 'Seen']);
        assert.equal(log.runs(message), 1);
        const third = await askAgent(origin, sessionId, message);
        assert.equal(third.status, 200);
        assert.equal(revisionsOf(again).length, 1);
        assert.deepEqual(revisionsOf(third), revisionsOf(again));
        assert.equal(log.begun(message), 1);
      }
      assert.ok(lost >= 3, `${lost} answers were lost`);
      test.diagnostic(`${lost} answers were lost`);
    });

    it('is asked for again by the remote client', async () => {
      await using remote = new RemoteSessionService({ url: origin });
      for (const bytes of [0, 20, 250]) {
        const text = `look remote ${bytes}`;
        const session = await remote.createSession(keyOf(text));
        proxy.cutResponse(bytes);
        await remote.appendEvent({ session, event: messageOf(text, text), run: {} });
        // The second answer may come when the agent has answered already.
        assert.equal(session.events[0]?.id, text);
        assert.deepEqual(textsOf(await untilText(server.origin, text, 'Seen')), [
          ...[text, 'Let me look', '', 'Seen'],
        ]);
        assert.equal(log.runs(text), 1);
        assert.equal((await eventsOf(origin, text)).length, 4);
      }
    });
  });
}
