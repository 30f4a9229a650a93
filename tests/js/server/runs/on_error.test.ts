// What the option onError hears of a run on the server.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

import { type InMemorySessionService, SessionError } from '../../../../js/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { says, storesMessage, textsOf } from '../../ui/live/runs/agents.js';
import { asked, echoing, EVENTS, serveSession } from './fixture.js';

describe('What onError hears of a run', () => {
  /** Runs an agent, and returns what onError has heard once the run has ended. */
  async function heardOf(run: RunAgent, prepare?: (service: InMemorySessionService) => void) {
    const errors: unknown[] = [];
    const running: Promise<unknown>[] = [];
    const served = await serveSession({
      run,
      waitUntil: (one) => running.push(one),
      onError: (error) => errors.push(error),
    });
    prepare?.(served.service);
    const { status, body } = await served.ask(EVENTS, asked('m1'));
    await Promise.all(running);
    await sleep(5);
    return { ...served, errors, status, code: (body as { code?: string }).code };
  }

  it('is a SessionError of the agent, once, also of a code that clients get as 4xx', async () => {
    for (const code of [
      'not_found',
      'invalid_argument',
      'stale_session',
      'agent_running',
    ] as const) {
      const failure = new SessionError(code, 'of the agent');
      const fails = (): never => {
        throw failure;
      };
      const late = await heardOf(async function* () {
        yield { author: 'guide', content: says('one') };
        fails();
      });
      assert.deepEqual([late.status, late.errors], [200, [failure]]);
      const early = await heardOf(storesMessage(fails));
      assert.deepEqual([early.status, early.code, early.errors], [500, 'run_failed', [failure]]);
    }
  });

  it('is nothing if the last event is an error: nothing was thrown', async () => {
    const { errors, events } = await heardOf(async function* () {
      yield { author: 'guide', errorCode: '429', errorMessage: 'quota' };
    });
    assert.deepEqual(errors, []);
    assert.equal((await events()).at(-1)?.errorCode, '429');
  });

  it('is the error of an append of the run, with its code, once', async (t) => {
    for (const code of ['storage_failed', 'quota_exceeded'] as const) {
      const failure = new SessionError(code, 'The disk is full.');
      const { run } = echoing();
      const { errors, events } = await heardOf(run, (service) => {
        const append = service.appendEvent.bind(service);
        t.mock.method(service, 'appendEvent', (request: Parameters<typeof append>[0]) =>
          request.event.author === 'guide' ? Promise.reject(failure) : append(request),
        );
      });
      assert.deepEqual(errors, [failure]);
      const [message, end] = await events();
      assert.deepEqual(textsOf([message!]), ['m1']);
      assert.equal(end?.errorCode, 'RUN_FAILED');
      assert.notEqual(end.errorMessage, failure.message);
      assert.deepEqual(end.customMetadata, { adk_session_wasm_error: { code } });
    }
  });
});
