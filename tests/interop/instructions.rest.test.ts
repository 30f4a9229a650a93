// Templates, printed by google-adk for Python and by this package.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { injectSessionState } from '../../js/index.js';
import {
  artifacts,
  differences,
  sameTemplates,
  state,
} from '../js/service/template/framework_rules.js';
import { linesOfPython } from './python.js';

const args = [JSON.stringify(state), JSON.stringify(artifacts)];
const render = (template: string) =>
  injectSessionState(template, {
    state,
    loadArtifact: (name) => (Object.hasOwn(artifacts, name) ? artifacts[name] : undefined),
  });

it('a template with a declared difference prints in Python as the documentation says', () => {
  const declared = differences.filter(({ python }) => python !== undefined);
  const printed = linesOfPython('instructions.py', {
    args,
    lines: declared.map(({ template }) => template),
  });
  declared.forEach(({ template, python }, index) => {
    assert.deepEqual(printed[index], python, JSON.stringify(template));
  });
});

it('a template without a declared difference prints as in Python', async () => {
  const templates = sameTemplates(5000);
  const printed = linesOfPython('instructions.py', { args, lines: templates });
  for (const [index, template] of templates.entries()) {
    const ours = await render(template).catch(() => ({ message: 'KeyError' }));
    assert.deepEqual(printed[index], ours, JSON.stringify(template));
  }
});
