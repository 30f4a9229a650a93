// One message, sent to two servers over one database at once, is one event and one run.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { textsOf } from '../../ui/live/runs/agents.js';
import { askAgent, createSession, revisionsOf, untilText } from './servers/client.js';
import { RunLog, type ServerProcess, startAgentServer } from './servers/server_process.js';

/**
 * @param urlOf makes the URL of an empty database
 * @param repetitions how often the message is sent
 */
export function runsOnce(
  title: string,
  urlOf: (log: RunLog) => string | Promise<string>,
  repetitions: number,
): void {
  describe(`A message that two servers over ${title} get at once`, () => {
    const log = new RunLog();
    let servers: ServerProcess[] = [];
    before(async () => {
      const url = await urlOf(log);
      servers = await Promise.all([1, 2].map(() => startAgentServer({ url, log: log.path })));
    });
    after(async () => {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      log.remove();
    });

    it(`is one event and one run, ${repetitions} times`, async (test) => {
      let attemptsOfBoth = 0;
      for (let number = 0; number < repetitions; number += 1) {
        const sessionId = `s${number}`;
        const message = `look ${number}`;
        // Each server is once the first.
        const [one, other] = number % 2 === 0 ? servers : servers.toReversed();
        assert.ok(one && other);
        await createSession(one.origin, sessionId);
        const asked = [one, other, one].map(({ origin }) => askAgent(origin, sessionId, message));
        const answers = await Promise.all(asked);
        for (const answer of answers) {
          assert.equal(answer.status, 200, JSON.stringify(answer.body));
          assert.equal(revisionsOf(answer).length, 1);
          assert.deepEqual(revisionsOf(answer), revisionsOf(answers[0]!));
        }
        const events = await untilText(other.origin, sessionId, 'Seen');
        assert.deepEqual(textsOf(events), [message, 'Let me look', '', 'Seen']);
        assert.equal(log.runs(message), 1);
        if (log.begun(message) > 1) attemptsOfBoth += 1;
      }
      test.diagnostic(`both servers tried to store the message ${attemptsOfBoth} times`);
    });
  });
}
