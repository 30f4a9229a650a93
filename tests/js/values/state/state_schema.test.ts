import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';

import { SessionError, StateSchemaError } from '../../../../js/values/errors/errors.js';
import { State } from '../../../../js/values/state/state.js';
import {
  type InferState,
  type SchemaResult,
  type StandardSchema,
  type StateSchema,
  validateDelta,
} from '../../../../js/values/state/state_schema.js';

const schema = {
  topic: z.string().trim(),
  count: z.number().int().default(0),
  cart: z.object({ items: z.array(z.object({ price: z.number() })) }),
  'user:name': z.string(),
  'temp:socket': z.string(),
};

function refused(...parts: (string | RegExp)[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StateSchemaError);
    assert.equal(error.name, 'StateSchemaError');
    assert.equal(error.code, 'schema_violation');
    for (const part of parts) {
      if (typeof part === 'string') assert.ok(error.message.includes(part), error.message);
      else assert.match(error.message, part);
    }
    return true;
  };
}

function handMade(validate: (value: unknown) => unknown): StandardSchema {
  return {
    '~standard': { version: 1, vendor: 'test', validate: validate as () => SchemaResult<unknown> },
  };
}

describe('A state schema', () => {
  it('accepts a valid value', () => {
    validateDelta(schema, { topic: 'tea', count: 1, cart: { items: [{ price: 2 }] } });
    validateDelta(schema, {});
    validateDelta({}, {});
  });

  it('refuses an invalid value, naming the key, the path in it and the issue', () => {
    const wrong = { cart: { items: [{ price: 1 }, { price: 'two' }] } };
    assert.throws(
      () => validateDelta(schema, wrong),
      refused('"cart"', 'items[1].price', /number/),
    );
    assert.throws(
      () => validateDelta(schema, { topic: 5 }),
      (error) => error instanceof StateSchemaError && error.key === 'topic',
    );
  });

  it('refuses an undeclared key, naming the declared ones', () => {
    assert.throws(
      () => validateDelta(schema, { topik: 'x' }),
      refused('"topik"', '"topic", "count"'),
    );
    assert.throws(() => validateDelta({}, { a: 1 }), refused('no keys'));
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, z.string()]));
    assert.throws(() => validateDelta(many, { a: 1 }), refused('and 10 more'));
  });

  it('ignores inherited keys', () => {
    assert.throws(() => validateDelta(schema, { toString: 'x' }), refused('"toString"'));
    const proto = JSON.parse('{"__proto__": 1}') as object;
    assert.throws(() => validateDelta(schema, proto), refused('"__proto__"'));
  });

  it('checks a key with a prefix only if it is declared', () => {
    validateDelta(schema, { 'user:other': 1, 'app:x': [], 'foo:bar': null });
    assert.throws(() => validateDelta(schema, { 'user:name': 1 }), refused('"user:name"'));
  });

  it('ignores `temp:` values', () => {
    validateDelta(schema, { 'temp:socket': () => 1, 'temp:other': 2n });
  });

  it('allows the removal of declared keys only', () => {
    validateDelta(schema, { topic: undefined, count: State.REMOVED, 'user:name': undefined });
    assert.throws(() => validateDelta(schema, { other: undefined }), refused('"other"'));
  });

  it("stores the given value, not the validator's output", () => {
    const delta = {};
    new State({}, delta, schema).set('topic', '  tea ');
    assert.deepEqual(delta, { topic: '  tea ' });
  });

  it('accepts validators of any origin', () => {
    const even = handMade((value) =>
      typeof value === 'number' && value % 2 === 0
        ? { value }
        : { issues: [{ message: 'must be even', path: [{ key: 'a' }, 0, 'b c', Symbol('s')] }] },
    );
    validateDelta({ n: even }, { n: 2 });
    assert.throws(
      () => validateDelta({ n: even }, { n: 3 }),
      refused('"n"', 'a[0]["b c"]["Symbol(s)"]: must be even'),
    );
    assert.throws(
      () => validateDelta({ n: handMade(() => ({ issues: [] })) }, { n: 1 }),
      refused(),
    );
  });

  it('refuses a validator that returns something else, and takes null for no issues', () => {
    for (const result of [null, 'no', { issues: 'no' }, { issues: {} }]) {
      const wrong = handMade(() => result);
      assert.throws(
        () => validateDelta({ n: wrong }, { n: 1 }),
        (error) => error instanceof SessionError && error.code === 'invalid_argument',
      );
    }
    validateDelta({ n: handMade((value) => ({ value, issues: null })) }, { n: 1 });
  });

  it('refuses a value if its validator throws, with the cause', () => {
    const cause = new RangeError('no such unit');
    const throws = handMade(() => {
      throw cause;
    });
    assert.throws(
      () => validateDelta({ n: throws }, { n: 1 }),
      (error) => error instanceof StateSchemaError && error.cause === cause,
    );
  });

  it('refuses a value if its validator returns issues that cannot be read', () => {
    for (const issues of [[null], [{ message: 'wrong', path: [null] }]]) {
      const broken = { topic: handMade(() => ({ issues })) };
      assert.throws(() => validateDelta(broken, { topic: 1 }), refused('"topic"', 'threw'));
    }
  });

  it('must be synchronous', async () => {
    const invalid = (error: unknown): boolean =>
      error instanceof SessionError && error.code === 'invalid_argument' && error.key === 'n';
    const asynchronous = handMade(() => Promise.reject(new Error('later')));
    assert.throws(() => validateDelta({ n: asynchronous }, { n: 1 }), invalid);
    assert.throws(
      () => validateDelta({ n: z.string().refine(async () => true) }, { n: 'x' }),
      invalid,
    );
    // An unhandled rejection would end the process here.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('must be made of Standard Schemas', () => {
    for (const none of ['string', undefined, {}, { '~standard': {} }]) {
      const wrong = { n: none } as unknown as StateSchema;
      assert.throws(
        () => validateDelta(wrong, { n: 1 }),
        (error) => error instanceof SessionError && error.code === 'invalid_argument',
      );
    }
    const silent = { n: handMade(() => undefined) };
    assert.throws(
      () => validateDelta(silent, { n: 1 }),
      (error) => error instanceof SessionError && error.code === 'invalid_argument',
    );
  });
});

describe('State with a schema', () => {
  it('checks every write before anything changes', () => {
    const value = { topic: 'tea' };
    const delta = {};
    const state = new State(value, delta, schema);
    assert.throws(() => state.set('topic', 5), refused('"topic"'));
    assert.throws(() => state.set('nope', 5), refused('"nope"'));
    assert.throws(() => state.delete('nope'), refused('"nope"'));
    assert.throws(() => state.update({ count: 1, topic: 5 }), refused('"topic"'));
    assert.deepEqual([value, delta], [{ topic: 'tea' }, {}]);
    assert.equal(state.delete('topic'), true);
  });
});

describe('The types of schemas', () => {
  it('follow the specification', () => {
    const theirs: StandardSchemaV1<number> = z.number();
    const ours: StandardSchema<number> = theirs;
    const back: StandardSchemaV1<number> = ours;
    assert.equal(back, theirs);
  });

  it("infer the state from the schema's inputs", () => {
    type Shape = InferState<typeof schema>;
    const state = new State<Shape>({});
    state.set('count', 1);
    state.set('count', undefined);
    state.set('temp:socket', 'x');
    const name: string | undefined = state.get('user:name');
    void ((): void => {
      // @ts-expect-error a string is no number
      state.set('count', '1');
    });
    assert.equal(name, undefined);
  });
});
