import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  type ReadonlyContext,
  Runner,
} from '@google/adk';

import { instructionOf } from '../adk/model_script.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import { instruction } from '../../../../js/service/template/provider.js';
import { injectSessionState } from '../../../../js/service/template/template.js';
import { ScriptedModel } from '../adk/pairing/scripted_model.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

async function systemInstruction(
  of: string | ((context: ReadonlyContext) => Promise<string>),
  artifactService?: InMemoryArtifactService,
): Promise<string> {
  const sessionService = new InMemorySessionService();
  await sessionService.createSession({ ...key, state: { name: 'Ada', list: [1], 이름: '민수' } });
  const model = new ScriptedModel(['ok']);
  const agent = new LlmAgent({ name: 'guide', model, instruction: of });
  const runner = new Runner({
    appName: 'app',
    agent,
    sessionService,
    ...(artifactService && { artifactService }),
  });
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
  for await (const event of runner.runAsync({ ...key, newMessage })) {
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
  }
  const [request] = model.requests;
  assert.ok(request !== undefined);
  return instructionOf(request);
}

describe('With a ReadonlyContext of @google/adk', () => {
  it('a template follows the rules of this package', async () => {
    const text = String.raw`{name} {list} {이름} {{name}} \{name} {toString?} {gone?}`;
    const printed = await systemInstruction(instruction(text));
    assert.ok(printed.endsWith('Ada [1] 민수 {{name}} {name}  '), printed);
  });

  it('a provider can call injectSessionState', async () => {
    const printed = await systemInstruction((context) => injectSessionState('{name}!', context));
    assert.ok(printed.endsWith('Ada!'), printed);
  });

  it("artifacts are loaded from the invocation's service", async () => {
    const artifactService = new InMemoryArtifactService();
    const artifact = { text: 'Be kind.' };
    await artifactService.saveArtifact({ ...key, filename: 'terms.txt', artifact });
    const template = instruction('{artifact.terms.txt} [{artifact.gone?}]');
    const printed = await systemInstruction(template, artifactService);
    assert.ok(printed.endsWith('Be kind. []'), printed);
  });

  it('errors are those of this package', async () => {
    let error: unknown;
    const keep = (text: string) => (context: ReadonlyContext) =>
      injectSessionState(text, context).catch((thrown: unknown) => {
        error = thrown;
        return '';
      });
    await systemInstruction(keep('{Name} {toString}'));
    assert.ok(isSessionError(error, 'missing_variable'));
    assert.deepEqual(
      error.missing?.map(({ name }) => name),
      ['Name', 'toString'],
    );
    assert.deepEqual(error.missing?.[0]?.suggestions, ['name']);
    await systemInstruction(keep('{artifact.a?}'));
    assert.ok(isSessionError(error, 'artifact_service_missing'));
  });
});
