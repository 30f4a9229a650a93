// Compares with the function of @google/adk that its agents render an instruction with. The package does not export it.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { InstructionContext } from '../../../../js/service/template/context.js';
import { injectSessionState } from '../../../../js/service/template/template.js';
import { artifacts, differences, type Outcome, sameTemplates, state } from './framework_rules.js';

type Render = (template: string, context: InstructionContext) => Promise<string>;

const framework = new URL('agents/instructions.js', import.meta.resolve('@google/adk'));
const { injectSessionState: frameworkRender } = (await import(framework.href)) as {
  injectSessionState: Render;
};

const loadArtifact = async ({ filename }: { filename: string }) =>
  Object.hasOwn(artifacts, filename) ? artifacts[filename] : undefined;
const session = { id: 's', appName: 'app', userId: 'u', state };
const context = {
  state: { toRecord: () => state },
  invocationContext: { session, artifactService: { loadArtifact } },
};

async function outcome(render: Render, template: string): Promise<Outcome> {
  try {
    return await render(template, context);
  } catch (error) {
    return error as Outcome;
  }
}

function assertOutcome(actual: Outcome, expected: Outcome): void {
  if (typeof expected === 'string' || typeof actual === 'string') {
    assert.equal(actual, expected);
    return;
  }
  assert.ok(actual.message.includes(expected.message), actual.message);
  assert.equal(actual.code, expected.code);
}

for (const { template, ours, adk } of differences) {
  it(`${JSON.stringify(template)} prints here and in @google/adk as the documentation says`, async () => {
    assertOutcome(await outcome(injectSessionState, template), ours);
    assertOutcome(await outcome(frameworkRender, template), adk);
  });
}

it('a template without a declared difference prints as in @google/adk', async () => {
  for (const template of sameTemplates(5000)) {
    const ours = await outcome(injectSessionState, template);
    const theirs = await outcome(frameworkRender, template);
    if (typeof ours === 'string') assert.equal(theirs, ours, JSON.stringify(template));
    else assert.equal(typeof theirs, 'object', JSON.stringify(template));
  }
});
