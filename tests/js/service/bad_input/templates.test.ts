import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { injectSessionState, isSessionError, Template } from '../../../../js/index.js';
import { cpuTime } from '../../cpu_time.js';
import { failure, show } from '../fixture.js';
import { type Call, injecting, invalid, refusesAll, type Row, throws } from './rows.js';

function* wrongTemplates(): Generator<Row> {
  const missing = 'missing_variable';
  const inherited = ['toString', 'constructor', '__proto__', 'hasOwnProperty'];
  const many = Array.from({ length: 5000 }, (_, n) => `{missing_${n}}`).join('');
  yield ['a name that is missing', injecting('{a} {missing} {b?}'), missing, '{missing}'];
  for (const name of inherited)
    yield [`the inherited ${name}`, injecting(`{${name}}`), missing, name];
  yield ['5,000 names that are missing', injecting(many), missing, 'missing_0'];
  yield ['a name of 100,000 letters', injecting(`{${'a'.repeat(100_000)}}`), missing, 'aaa'];
  for (const name of ['artifact.a.txt', 'artifact.a.txt?']) {
    yield [
      `{${name}} and nobody to ask`,
      injecting(`{${name}}`),
      'artifact_service_missing',
      'a.txt',
    ];
  }
  const failing = { state: {}, loadArtifact: () => Promise.reject(new Error('full')) };
  const throwing = { state: {}, loadArtifact: throws };
  yield [
    'an artifact that fails',
    injecting('{artifact.a.txt}', failing),
    'storage_failed',
    'a.txt',
  ];
  yield ['an artifact that throws', injecting('{artifact.a.txt}', throwing), 'storage_failed', 'a.txt']; // prettier-ignore
  const unprintable = { state: { 'temp:f': () => 1 } };
  yield ['a temp value that is a function', injecting('{temp:f}', unprintable), 'unserializable', 'temp:f']; // prettier-ignore
  for (const template of [undefined, null, 5, {}, ['{a}'], Symbol('x')]) {
    const make: Call = () => new Template(template as never);
    yield [`injectSessionState(${show(template)})`, injecting(template), invalid, 'template'];
    yield [`new Template(${show(template)})`, make, invalid, 'template'];
  }
  for (const context of [5, {}, { state: null }, { state: 'a' }]) {
    yield [`a context ${show(context)}`, injecting('{a}', context), invalid, 'context'];
  }
}

refusesAll('Hostile templates', wrongTemplates());

describe('Templates with many braces', () => {
  const shapes: [string, (n: number) => string][] = [
    ['opening', (n) => '{'.repeat(n)],
    ['closing', (n) => '}'.repeat(n)],
    ['both', (n) => '{'.repeat(n / 2) + '}'.repeat(n / 2)],
    ['pairs', (n) => '{}'.repeat(n / 2)],
    ['names without an end', (n) => '{a'.repeat(n / 2)],
    ['nested names', (n) => `${'{'.repeat(n / 2)}a${'}'.repeat(n / 2)}`],
    ['backslashes', (n) => `${'\\'.repeat(n)}{a}`],
    ['backslashes before each', (n) => '\\{'.repeat(n / 2)],
    ['optional signs', (n) => `{a${'?'.repeat(n)}}`],
    ['white space', (n) => `{${' '.repeat(n)}a`],
    ['artifacts without an end', (n) => '{artifact.'.repeat(n / 10)],
  ];
  for (const [what, make] of shapes) {
    it(`(${what}) take linear time`, () => {
      const cost = (length: number): number => {
        const text = make(length);
        const times = Array.from({ length: 5 }, () =>
          cpuTime(() => new Template(text).placeholders),
        );
        return Math.min(...times);
      };
      cost(1000);
      // Sixteen times as long: 256 times as dear if it were quadratic. The floor is for the clock's grain.
      const [short, long] = [cost(25_000), cost(400_000)];
      assert.ok(long < 100 * Math.max(short, 0.1), `${short} ms, ${long} ms`);
    });
  }

  it('report all missing names, however many', async () => {
    const template = Array.from({ length: 5000 }, (_, n) => `{missing_${n}}`).join('');
    const promise = injectSessionState(template, { state: {} });
    const error = await failure(promise, 'missing_variable');
    assert.ok(isSessionError(error, 'missing_variable'));
    const { missing = [] } = error;
    assert.equal(missing.length, 5000);
    assert.deepEqual(missing.at(-1)?.name, 'missing_4999');
    assert.equal(missing.at(-1)?.offset, template.lastIndexOf('{'));
  });

  it('are rendered unchanged', async () => {
    const text = '{'.repeat(400_000);
    assert.equal(await injectSessionState(text, { state: { a: 1 } }), text);
  });
});
