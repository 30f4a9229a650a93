import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  isSessionError,
  type SessionError,
  type SessionErrorCode,
} from '../../../../js/values/errors/errors.js';
import type { TemplateContext } from '../../../../js/service/template/context.js';
import { injectSessionState, Template } from '../../../../js/service/template/template.js';
import { State } from '../../../../js/values/state/state.js';

async function failure(promise: Promise<unknown>, code: SessionErrorCode): Promise<SessionError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isSessionError(error), String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail('it did not fail');
}

describe('A template', () => {
  it('prints state values', async () => {
    const state = {
      name: 'Ada',
      n: 1.5,
      yes: true,
      none: null,
      list: [1, { a: 'b' }],
      이름: '민수',
    };
    const template = new Template('{name} {n} {yes} [{none}] {list} {이름}');
    assert.equal(await template.render({ state }), 'Ada 1.5 true [] [1,{"a":"b"}] 민수');
    assert.equal(await template.render({ state: { ...state, name: 'Bo' } }), 'Bo 1.5 true [] [1,{"a":"b"}] 민수'); // prettier-ignore
  });

  it('prints numbers and booleans as JavaScript does', async () => {
    const state = { big: 1e21, small: 1e-7, zero: -0, 'temp:nan': NaN, 'temp:big': 10n };
    assert.equal(
      await injectSessionState('{big} {small} {zero} {temp:nan} {temp:big}', { state }),
      '1e+21 1e-7 0 NaN 10',
    );
  });

  it('never expands placeholders in values', async () => {
    const state = { a: '{b} \\{b}', b: 'secret' };
    assert.equal(await injectSessionState('{a}', { state }), '{b} \\{b}');
  });

  it('halves the backslashes before a placeholder', async () => {
    const text = String.raw`{a} \{a} \\{a} \\\{a} \{ a? } \x{}`;
    const printed = await injectSessionState(text, { state: { a: 1 } });
    assert.equal(printed, String.raw`1 {a} \1 \{a} { a? } \x{}`);
  });

  it('lists its placeholders, without escaped ones', () => {
    const template = new Template(String.raw`😀 { user:name? } \{no} {artifact.a b.txt}`);
    assert.deepEqual(template.placeholders, [
      { name: 'user:name', kind: 'state', optional: true, start: 3, end: 17 },
      { name: 'artifact.a b.txt', kind: 'artifact', optional: false, start: 24, end: 42 },
    ]);
    assert.equal(template.text.slice(24, 42), '{artifact.a b.txt}');
  });

  it('names all missing keys in one error', async () => {
    const promise = injectSessionState('😀 {Name} {b?} {artifact.c} {d}', {
      state: { name: 1 },
      loadArtifact: () => undefined,
    });
    const error = await failure(promise, 'missing_variable');
    assert.deepEqual(error.missing, [
      { name: 'Name', offset: 3, suggestions: ['name'] },
      { name: 'artifact.c', offset: 15, suggestions: [] },
      { name: 'd', offset: 28, suggestions: [] },
    ]);
    for (const { name } of error.missing ?? []) assert.ok(error.message.includes(`{${name}}`));
  });

  it('treats undefined and a removed key as missing', async () => {
    const state = { a: undefined, b: State.REMOVED };
    assert.equal(await injectSessionState('[{a?}{b?}]', { state }), '[]');
    const error = await failure(injectSessionState('{a}{b}', { state }), 'missing_variable');
    assert.equal(error.missing?.length, 2);
  });

  it('refuses a value that JSON cannot represent, naming the key', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const state = { 'temp:f': () => 1, 'temp:c': cyclic };
    const error = await failure(injectSessionState('{temp:f}', { state }), 'unserializable');
    assert.equal(error.key, 'temp:f');
    assert.match(error.message, /\{temp:f\}.*function/);
    const other = await failure(injectSessionState('{temp:c?}', { state }), 'unserializable');
    assert.ok(other.cause instanceof TypeError);
  });

  it('names what cannot be read because its own code throws', async () => {
    const cause = new Error('mine');
    const fail = (): never => {
      throw cause;
    };
    const hidden = new Proxy({}, { ownKeys: fail });
    const throwing = { get: fail, enumerable: true };
    const odd = (name: string) => Object.defineProperty({}, name, throwing) as never;
    const loadArtifact = () => undefined;
    for (const [text, context, key] of [
      ['{a}', { state: odd('a') }, 'a'],
      ['{a?}{artifact.f?}', { state: odd('a'), loadArtifact }, 'a'],
      ['{user:a}', { state: new State(odd('user:a')) }, 'user:a'],
      ['{a}', { state: { toRecord: () => odd('a') } }, 'a'],
      ['{a}', { state: { toRecord: fail } }, 'context'],
      ['{a}', odd('state'), 'context'],
      ['{artifact.f}', { state: {}, loadArtifact: () => odd('text') }, 'artifact.f'],
      ['{a}', { state: hidden }, 'context'],
      ['{a}{artifact.f?}', { state: hidden, loadArtifact }, 'context'],
    ] as const) {
      const error = await failure(injectSessionState(text, context), 'invalid_argument');
      assert.deepEqual([error.key, error.cause], [key, cause]);
    }
  });

  it('must be a string', async () => {
    const wrong = 5 as unknown as string;
    assert.throws(
      () => new Template(wrong),
      (error) => isSessionError(error, 'invalid_argument'),
    );
    await failure(injectSessionState(wrong, { state: {} }), 'invalid_argument');
  });

  it('requires a context with a state', async () => {
    for (const none of [undefined, null, {}, { state: 1 }, { state: null }]) {
      const wrong = none as unknown as TemplateContext;
      await failure(injectSessionState('{a}', wrong), 'invalid_argument');
    }
  });

  it('can be rendered repeatedly; equal texts share one template', async () => {
    for (let index = 0; index < 200; index += 1) {
      const text = `${index % 70}: {a}`;
      assert.equal(
        await injectSessionState(text, { state: { a: index } }),
        `${index % 70}: ${index}`,
      );
    }
  });
});

describe('A template with artifacts', () => {
  it('prints the text of a text part and the JSON of any other', async () => {
    const printed = await injectSessionState('{artifact.a.txt}|{artifact.p.png}|{artifact.empty}', {
      state: {},
      loadArtifact: (name) =>
        name === 'a.txt'
          ? { text: 'A {b}' }
          : name === 'empty'
            ? { text: '' }
            : { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    });
    assert.equal(printed, 'A {b}|{"inlineData":{"mimeType":"image/png","data":"AA=="}}|');
  });

  it('loads all artifacts concurrently, each once', async () => {
    const asked: string[] = [];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const promise = injectSessionState('{artifact.a}{artifact.b}{artifact.a?} \\{artifact.c}', {
      state: {},
      loadArtifact: async (name) => {
        asked.push(name);
        await gate;
        return { text: name.toUpperCase() };
      },
    });
    assert.deepEqual(asked, ['a', 'b']);
    open();
    assert.equal(await promise, 'ABA {artifact.c}');
  });

  it('prints the state as it was at the call', async () => {
    const state: Record<string, unknown> = { list: [1], name: 'before' };
    const promise = injectSessionState('{name} {list} {artifact.a}', {
      state,
      loadArtifact: async () => ({ text: 'A' }),
    });
    state.name = 'after';
    (state.list as number[]).push(2);
    assert.equal(await promise, 'before [1] A');
  });

  it('prints nothing for a missing optional artifact', async () => {
    const loadArtifact = async (): Promise<null> => null;
    assert.equal(await injectSessionState('[{artifact.a?}]', { state: {}, loadArtifact }), '[]');
  });

  it('requires an artifact service, for an optional artifact too', async () => {
    for (const text of ['{gone} {artifact.a}', '{artifact.a?}']) {
      const error = await failure(
        injectSessionState(text, { state: {} }),
        'artifact_service_missing',
      );
      assert.equal(error.key, 'artifact.a');
    }
  });

  it('reports the first failed load with its cause, before missing names', async () => {
    const cause = new Error('disk');
    const failing: TemplateContext['loadArtifact'][] = [
      (name) => (name === 'a' ? undefined : Promise.reject(cause)),
      (name) => {
        if (name === 'a') return undefined;
        throw cause;
      },
    ];
    for (const loadArtifact of failing) {
      const context = { state: {}, loadArtifact } as TemplateContext;
      const promise = injectSessionState('{gone} {artifact.a} {artifact.b?} {artifact.c}', context);
      const error = await failure(promise, 'storage_failed');
      assert.equal(error.cause, cause);
      assert.equal(error.key, 'artifact.b');
      assert.match(error.message, /artifact\.b/);
    }
  });
});
