import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { InstructionProvider as AdkInstructionProvider } from '@google/adk';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import {
  instruction,
  type InstructionProvider,
  resolveInstruction,
} from '../../../../js/service/template/provider.js';
import { injectSessionState } from '../../../../js/service/template/template.js';
import { Context, ReadonlyContext } from '../../../../js/service/invocation/context.js';
import { State } from '../../../../js/values/state/state.js';
import { invoke, MapArtifactService, newFixture } from '../invocation/fixture.js';

describe('An instruction', () => {
  it('is rendered with a context of an invocation', async () => {
    const artifactService = new MapArtifactService();
    const invocation = invoke(await newFixture({ a: 1 }), { artifactService });
    const context = invocation.context({ agentName: 'guide' });
    context.state.set('temp:b', 'two');
    await context.saveArtifact('c.txt', { text: 'three' });
    for (const reader of [context, context.toReadonly()]) {
      const text = await resolveInstruction('{a} {temp:b} {artifact.c.txt}', reader);
      assert.equal(text, '1 two three');
    }
  });

  it('does not change the state that it reads', async () => {
    const context = invoke(await newFixture({ cart: [1] })).context({ agentName: 'guide' });
    await resolveInstruction('{cart}', context);
    (context.state.toRecord().cart as number[]).push(2);
    assert.equal(context.state.hasDelta(), false);
  });

  it('needs an artifact service for an artifact', async () => {
    const context = invoke(await newFixture()).readonlyContext({ agentName: 'guide' });
    await assert.rejects(resolveInstruction('{artifact.a?}', context), (error) => {
      assert.ok(isSessionError(error, 'artifact_service_missing'));
      assert.match(error.message, /artifact\.a/);
      return true;
    });
  });

  it('is rendered with a plain context, its state a record or a State', async () => {
    const state = new State({ a: 1, b: 1 }, { b: State.REMOVED, c: 3 });
    assert.equal(await resolveInstruction('{a} {b?} {c}', { state }), '1  3');
    assert.equal(await resolveInstruction('{toRecord}', { state: { toRecord: 1 } }), '1');
    assert.equal(await resolveInstruction('{a}', { state: Object.assign(Object.create(null) as object, { a: 1 }) }), '1'); // prettier-ignore
  });

  it('can be a function, whose text is used unchanged', async () => {
    const state = { a: 1 };
    assert.equal(await resolveInstruction(() => '{a} \\{b}', { state }), '{a} \\{b}');
    const provider: InstructionProvider = (context) => injectSessionState('{a}', context);
    assert.equal(await resolveInstruction(provider, { state }), '1');
  });

  it('that is a function gets a read-only context', async () => {
    const context = invoke(await newFixture({ a: 1 })).context({ agentName: 'guide' });
    let seen: unknown;
    const text = await resolveInstruction((given) => {
      seen = given;
      const a: unknown = given.state.get('a');
      // @ts-expect-error it is a ReadonlyContext
      assert.throws(() => (given.state.set as (key: string, value: unknown) => void)('a', 2));
      return `${given.agentName} ${String(a)}`;
    }, context);
    assert.equal(text, 'guide 1');
    assert.ok(seen instanceof ReadonlyContext && !(seen instanceof Context));
  });

  it('that is a function can throw any error', async () => {
    const error = new RangeError('mine');
    const throwing = (): string => {
      throw error;
    };
    await assert.rejects(resolveInstruction(throwing, { state: {} }), (thrown) => thrown === error);
  });

  it('must be, or return, a string', async () => {
    for (const wrong of [5, undefined, () => 5, async () => undefined]) {
      await assert.rejects(resolveInstruction(wrong as never, { state: {} }), (error) =>
        isSessionError(error, 'invalid_argument'),
      );
    }
  });

  it('made of a template fits agents of this package and of the ADK', async () => {
    const provider = instruction('{{a}} {a}');
    const ours: InstructionProvider = provider;
    const theirs: AdkInstructionProvider = provider;
    assert.equal(await ours({ state: { a: 1 } }), '{{a}} 1');
    assert.equal(theirs, ours);
  });
});
