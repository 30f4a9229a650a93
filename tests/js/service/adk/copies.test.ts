// `@google/adk` has two copies, for `import` and for `require`. Each numbers its writes separately.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';

import * as esm from '@google/adk';

import { adkSessionService } from '../../../../js/service/adk/factory.js';
import * as overEsm from '../../../../js/service/adk/index.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

type Framework = Pick<
  typeof esm,
  'BaseSessionService' | 'LlmAgent' | 'ParallelAgent' | 'Runner' | 'setLogLevel' | 'LogLevel'
>;

const commonjs = createRequire(import.meta.url)('@google/adk') as Framework;
for (const { setLogLevel, LogLevel } of [esm, commonjs]) setLogLevel(LogLevel.ERROR);

const copies: [name: string, framework: Framework][] = [
  ['ESM', esm],
  ['CommonJS', commonjs],
];

/**
 * Two parallel agents write one key, `late` after `early`, and the later write is appended first. Returns the values
 * on the handle and in the store.
 */
async function race(framework: Framework, sessionService: esm.BaseSessionService) {
  const { LlmAgent, ParallelAgent, Runner } = framework;
  await sessionService.createSession(key);
  const progress = new EventEmitter();
  const earlyWrote = once(progress, 'early wrote');
  const lateAppended = once(progress, 'late appended');
  let handle: Record<string, unknown> = {};
  const early = new LlmAgent({
    name: 'early',
    beforeAgentCallback: async ({ state, invocationContext }) => {
      state.set('k', 'early');
      progress.emit('early wrote');
      await lateAppended;
      handle = invocationContext.session.state;
      return { role: 'model', parts: [{ text: 'done' }] };
    },
  });
  const late = new LlmAgent({
    name: 'late',
    beforeAgentCallback: async ({ state }) => {
      await earlyWrote;
      state.set('k', 'late');
      return { role: 'model', parts: [{ text: 'done' }] };
    },
  });
  const agent = new ParallelAgent({ name: 'both', subAgents: [early, late] });
  const runner = new Runner({ appName: key.appName, agent, sessionService });
  const newMessage = { role: 'user', parts: [{ text: 'go' }] };
  const order: (string | undefined)[] = [];
  for await (const { author } of runner.runAsync({ ...key, newMessage })) {
    order.push(author);
    if (author === 'late') progress.emit('late appended');
  }
  assert.deepEqual(order, ['late', 'early']);
  return { handle: handle.k, stored: (await sessionService.getSession(key))?.state.k };
}

for (const [name, framework] of copies) {
  describe(`The services over the ${name} copy`, () => {
    const services = adkSessionService(framework.BaseSessionService);

    it("extend that copy's BaseSessionService", async () => {
      const all = [
        new services.InMemorySessionService(),
        new services.IndexedDbSessionService(),
        await services.openSessionService({ storage: 'memory' }),
      ];
      const other = framework === esm ? commonjs : esm;
      for (const service of all) {
        assert.ok(service instanceof framework.BaseSessionService);
        assert.ok(!(service instanceof other.BaseSessionService));
      }
    });

    it('keep the order of its parallel agents', async () => {
      const outcome = await race(framework, new services.InMemorySessionService());
      assert.deepEqual(outcome, { handle: 'late', stored: 'late' });
    });

    it("have their classes' names", () => {
      const { InMemorySessionService, IndexedDbSessionService } = services;
      assert.equal(InMemorySessionService.name, 'InMemorySessionService');
      assert.equal(IndexedDbSessionService.name, 'IndexedDbSessionService');
    });
  });
}

describe('Services over another copy than the agents use', () => {
  it("do not know the order of the agents' writes: the older one wins", async () => {
    const { InMemorySessionService } = adkSessionService(esm.BaseSessionService);
    const outcome = await race(commonjs, new InMemorySessionService());
    assert.deepEqual(outcome, { handle: 'early', stored: 'early' });
  });
});

describe('An import of adk-session-wasm/adk', () => {
  it('uses the copy that is imported', () => {
    assert.ok(new overEsm.InMemorySessionService() instanceof esm.BaseSessionService);
  });

  it('can make services over another copy', async () => {
    const { InMemorySessionService } = overEsm.adkSessionService(commonjs.BaseSessionService);
    const outcome = await race(commonjs, new InMemorySessionService());
    assert.deepEqual(outcome, { handle: 'late', stored: 'late' });
  });
});

describe('adkSessionService', () => {
  for (const [what, given] of [
    ['the namespace', commonjs],
    ['another class', commonjs.Runner],
    ['a function', () => undefined],
    ['nothing', undefined],
    ['null', null],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => adkSessionService(given as never),
        (error) => isSessionError(error, 'invalid_argument') && error.key === 'BaseSessionService',
      );
    });
  }
});
