import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as adk from '@google/adk';

import { openSessionService } from '../../../../js/service/adk/index.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import type { Decide, StorageWriteRequest } from '../../../../js/core/storage/index.js';
import { MapStorage } from '../map_storage.js';
import { set, setState } from './scenarios/agents/llm_agent.js';
import { textOf } from './scenarios/scenario.js';
import { Stage } from './scenarios/stage.js';

adk.setLogLevel(adk.LogLevel.ERROR);

/** A storage of which one append fails, before or after it has done its work. */
class FailsOnce extends MapStorage {
  /** Appends still to come until that one; none fails while this is `undefined`. */
  left: number | undefined;
  isLate = false;

  override async append(request: StorageWriteRequest, decide: Decide): Promise<void> {
    const fails = this.left === 0;
    if (this.left !== undefined) this.left = fails ? undefined : this.left - 1;
    if (fails && !this.isLate) throw new Error('disk on fire');
    await super.append(request, decide);
    if (fails) throw new Error('no answer from the disk');
  }
}

/** A copy of a handle and an event. */
const copyOf = ({ session, event }: { session: adk.Session; event: object }) =>
  structuredClone({ session, event: JSON.parse(JSON.stringify(event)) as unknown });

/** A turn of four appends, the given one of which fails; and how things stood before that. */
async function failingTurn(number: number, isLate = false) {
  const storage = new FailsOnce();
  const sessionService = await openSessionService({ storage });
  const stage = new Stage(adk, sessionService);
  await stage.create({ kept: 1 });
  const append = sessionService.appendEvent.bind(sessionService);
  const seen: { before: unknown; after: unknown }[] = [];
  sessionService.appendEvent = async (request) => {
    const before = copyOf(request);
    try {
      return await append(request);
    } catch (error) {
      seen.push({ before, after: copyOf(request) });
      throw error;
    }
  };
  const agent = new adk.LlmAgent({
    name: 'agent',
    model: stage.model(set('k', 1), 'Done.'),
    tools: [setState(stage)],
    outputKey: 'answer',
  });
  storage.left = number;
  storage.isLate = isLate;
  await assert.rejects(stage.turn(agent, { text: 'one' }), (error) =>
    isSessionError(error, 'storage_failed'),
  );
  return { stage, seen };
}

const names = ['the message', "the model's call", "the tool's answer", 'the last answer'];

describe('A turn in which the storage fails', () => {
  for (const [number, name] of names.entries()) {
    it(`at ${name} leaves handle, event and stored data unchanged`, async () => {
      const { stage, seen } = await failingTurn(number);
      assert.equal(seen.length, 1);
      assert.deepEqual(seen[0]?.after, seen[0]?.before);
      const { state, events } = await stage.stored();
      assert.equal(events.length, number);
      assert.deepEqual(state, number > 2 ? { kept: 1, k: 1 } : { kept: 1 });
    });

    it(`at ${name} does not affect the next turn`, async () => {
      const { stage } = await failingTurn(number);
      const agent = new adk.LlmAgent({
        name: 'agent',
        model: stage.model('Here again.'),
        outputKey: 'answer',
      });
      const yielded = await stage.turn(agent, { text: 'two' });
      assert.deepEqual(yielded.map(textOf), ['Here again.']);
      const { state, events } = await stage.stored();
      assert.equal(state.answer, 'Here again.');
      assert.deepEqual(events.slice(-2).map(textOf), ['two', 'Here again.']);
      assert.equal(events.length, number + 2);
    });
  }

  it('after the write stores the event once, and a retry changes nothing', async () => {
    const { stage } = await failingTurn(3, true);
    const session = await stage.stored();
    const last = session.events.at(-1);
    assert.ok(last);
    assert.deepEqual([textOf(last), session.state.answer], ['Done.', 'Done.']);
    await stage.sessionService.appendEvent({ session, event: last });
    assert.deepEqual(await stage.stored(), session);
  });
});
