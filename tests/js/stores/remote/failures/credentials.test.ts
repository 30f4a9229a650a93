import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';

import { isSessionError } from '../../../../../js/index.js';
import { KEY, openRemote } from '../fixture.js';
import { json, openFaulty, refused } from './faults.js';
import { failsWith } from '../../../fails_with.js';

describe('The credentials of a remote service', () => {
  const TOKEN = 's3cret-token';

  it('stand in no URL, and in no error even if the server repeats them', async () => {
    const { remote, faults, sent } = openFaulty({
      getAccessToken: () => TOKEN,
      headers: { 'x-api-key': 'k3y-of-the-app' },
      retries: 0,
    });
    await remote.createSession(KEY);
    const echo = `your token ${TOKEN} and key k3y-of-the-app are no good`;
    for (const status of [200, 400, 403, 500]) {
      faults.push(() => json(status === 200 ? echo : { detail: echo }, status));
      const error: unknown = await remote.getSession(KEY).catch((error: unknown) => error);
      assert.ok(isSessionError(error));
      assert.doesNotMatch(inspect(error) + JSON.stringify(error), /s3cret|k3y/);
    }
    for (const { url, headers } of sent) {
      assert.doesNotMatch(url, /s3cret|k3y/);
      assert.equal(headers.get('authorization'), `Bearer ${TOKEN}`);
      assert.equal(headers.get('x-api-key'), 'k3y-of-the-app');
    }
  });

  it('are asked for once more if the server answers 401', async () => {
    const tokens = ['t0ken-one', 't0ken-two', 't0ken-three', 't0ken-three'];
    const { remote, faults, sent } = openFaulty({ getAccessToken: () => tokens.shift()! });
    faults.push((send) => send(), refused(401));
    assert.equal(await remote.getSession(KEY), undefined);
    assert.equal(sent.at(-1)?.headers.get('authorization'), 'Bearer t0ken-three');
    faults.push(refused(401));
    tokens.push('t0ken-three');
    await assert.rejects(remote.getSession(KEY), failsWith('remote', /401/));
  });

  it('that cannot be had are an error without a request', async () => {
    for (const getAccessToken of [
      () => '',
      () => 'líne',
      () => 7 as never,
      () => Promise.reject(new Error('signed out')),
    ]) {
      const { remote, sent } = openFaulty({ getAccessToken });
      await assert.rejects(remote.getSession(KEY), failsWith('storage_unavailable'));
      assert.equal(sent.length, 0);
    }
  });

  it('are not shown by the errors of invalid options', () => {
    for (const options of [
      { url: 'https://ada:s3cret@chat.example' },
      { url: 'ftp://chat.example/s3cret' },
      { url: 'https://chat.example/?key=s3cret' },
      { headers: { authorization: 'Bearer s3crét' } },
      { headers: { 'bad name': 's3cret' } },
      { headers: 's3cret' as never },
      { getAccessToken: 's3cret' as never },
      { timeoutMs: 0 },
      { retries: -1 },
      { fetch: 's3cret' as never },
    ]) {
      assert.throws(
        () => openRemote(options),
        (error) => {
          assert.doesNotMatch(inspect(error), /s3cr/, inspect(options));
          return isSessionError(error, 'invalid_argument');
        },
      );
    }
  });
});
