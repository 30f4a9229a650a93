import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import { isStateSchemaError } from '@google/adk';
import {
  isSessionError,
  SESSION_ERROR_CODES,
  SessionError,
  StateSchemaError,
} from '../../../../js/values/errors/errors.js';
import { cpuTime } from '../../cpu_time.js';

test('an error carries its code, name, message and fields', () => {
  const error = new SessionError('stale_session', 'Someone else appended.', {
    expectedRevision: 3,
    actualRevision: 5,
  });
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'SessionError');
  assert.equal(error.code, 'stale_session');
  assert.equal(error.message, 'Someone else appended.');
  assert.equal(error.expectedRevision, 3);
  assert.equal(error.actualRevision, 5);
  assert.match(String(error.stack), /^SessionError: Someone else appended\./);
});

test('missing fields are not members', () => {
  const error = new SessionError('closed', 'Closed.', { path: undefined });
  assert.deepEqual(Object.keys(error), ['code']);
  assert.equal('cause' in error, false);
});

test('the cause is kept', () => {
  const cause = new Error('disk');
  assert.equal(new SessionError('storage_failed', 'No.', { cause }).cause, cause);
});

test('an error survives a promise', async () => {
  const error = new SessionError('aborted', 'Stopped.');
  await assert.rejects(Promise.reject(error), (caught) => caught === error);
});

test('isSessionError recognises every code', () => {
  for (const code of SESSION_ERROR_CODES) {
    const error: unknown = new SessionError(code, 'x');
    assert.ok(isSessionError(error, code));
    assert.equal(
      SESSION_ERROR_CODES.filter((other) => isSessionError(error, other)).length,
      1,
      code,
    );
  }
});

test('isSessionError recognises an error of another copy and realm', () => {
  const foreign: unknown = vm.runInNewContext(`
    class SessionError extends Error { code = 'not_found'; }
    SessionError.prototype[Symbol.for('adk-session-wasm.SessionError')] = true;
    new SessionError('gone')`);
  assert.equal(foreign instanceof Error, false);
  assert.ok(isSessionError(foreign));
  assert.ok(isSessionError(foreign, 'not_found'));
  assert.equal(isSessionError(foreign, 'closed'), false);
});

test('isSessionError is false for everything else, and never throws', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const trap = {
    get code(): string {
      throw new Error('no');
    },
    [Symbol.for('adk-session-wasm.SessionError')]: true,
  };
  for (const value of [null, undefined, 1, 'not_found', {}, new Error('x'), revoked.proxy, trap]) {
    assert.equal(isSessionError(value), false);
  }
});

test('a StateSchemaError passes the guard of @google/adk', () => {
  const error = new StateSchemaError('Not declared.', { key: 'colour' });
  assert.equal(error.name, 'StateSchemaError');
  assert.ok(isSessionError(error, 'schema_violation'));
  assert.ok(error instanceof SessionError);
  assert.equal(error.key, 'colour');
  assert.ok(isStateSchemaError(error));
});

test('toJSON prints name, code, message and fields, but neither stack nor cause', () => {
  const error = new SessionError('remote', 'Refused.', { status: 403, cause: new Error('secret') });
  assert.deepEqual(JSON.parse(JSON.stringify(error)), {
    name: 'SessionError',
    code: 'remote',
    message: 'Refused.',
    status: 403,
  });
});

test('passwords in URLs, keys in queries and HTTP credentials are masked', () => {
  const error = new SessionError(
    'connection_lost',
    'postgres://ada:hunter2@db:5432/x, redis://:hunter2@h and https://h/x?a=1&key=hunter2#f',
    { body: 'Authorization: Bearer hunter2hunter2, postgres://a:hunter2@h' },
  );
  assert.doesNotMatch(JSON.stringify(error) + String(error.stack), /hunter2/);
  assert.match(error.message, /postgres:\/\/ada:\*\*\*@db:5432\/x/);
});

for (const [text, masked] of [
  ['mysql://ada:hunter/2@db/shop', 'mysql://ada:***@db/shop'],
  ['mysql://ada:1@hunter/2@db/shop', 'mysql://ada:***@db/shop'],
  ['https://h/x?refresh_token=hunter2&a=1', 'https://h/x?refresh_token=***&a=1'],
  ['libsql://h?authToken=hunter2', 'libsql://h?authToken=***'],
  ['{"x-goog-api-key": "hunter2hunter2"}', '{"x-goog-api-key": "***"}'],
] as const) {
  test(`the secret in ${masked} is masked`, () => {
    assert.equal(new SessionError('remote', text).message, masked);
  });
}

for (const url of [
  'http://localhost:8080/apps/shop',
  'http://localhost:80/users/ada@example.com',
]) {
  test(`${url}, which has no password, stays as it is`, () => {
    const message = `${url} did not answer.`;
    assert.equal(new SessionError('remote', message).message, message);
  });
}

test('masking a long message takes linear time', () => {
  const texts = [
    'a://b:'.repeat(100_000),
    `http://${'x:'.repeat(100_000)}`,
    'a'.repeat(500_000),
    '?'.repeat(500_000),
    `?${'key'.repeat(200_000)}`,
  ];
  for (const text of texts) {
    const time = cpuTime(() => new SessionError('remote', text));
    assert.ok(time < 1000, `${time} ms for ${text.slice(0, 10)}`);
  }
});
