import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../js/index.js';
import { errorText } from '../../../../js/values/errors/error_text.js';

const SECRET = 'https://db.example/tea: /var/lib/tea.db';
const errorOf = (code: SessionError['code'], fields: object = {}) =>
  new SessionError(code, SECRET, fields);

describe('errorText', () => {
  it('says what happened by the code, and by the status of a server', () => {
    assert.equal(errorText(errorOf('connection_lost')), 'You are offline.');
    assert.equal(errorText(errorOf('remote', { status: 403 })), 'You may not do this.');
    assert.equal(errorText(errorOf('remote', { status: 401 })), 'Sign in to go on.');
  });

  it('has one sentence for what it does not know', () => {
    const other = 'Something went wrong. Try again.';
    for (const error of [new Error(SECRET), 'odd', undefined, errorOf('internal')]) {
      assert.equal(errorText(error), other);
    }
  });

  it('prints of messages only the cause of a run that failed, unless that is an error of this package', () => {
    const textOf = (cause: unknown) => errorText(errorOf('run_failed', { cause }));
    assert.equal(textOf(new Error('429 quota')), 'The answer could not be made: 429 quota');
    assert.equal(textOf({ code: '429', message: 'quota' }), 'The answer could not be made: quota');
    assert.equal(textOf('quota'), 'The answer could not be made: quota');
    for (const cause of [undefined, { code: 'closed' }, errorOf('storage_failed')]) {
      assert.equal(textOf(cause), 'The answer could not be made.');
    }
  });

  it('takes sentences of another language', () => {
    const texts = {
      failed: 'Wegen „{reason}“ keine Antwort.',
      unexplained: 'Keine Antwort.',
      offline: 'Keine Verbindung.',
    };
    assert.equal(errorText(errorOf('connection_lost'), texts), 'Keine Verbindung.');
    const error = errorOf('run_failed', { cause: '$&' });
    assert.equal(errorText(error, texts), 'Wegen „$&“ keine Antwort.');
    assert.equal(errorText(errorOf('run_failed'), texts), 'Keine Antwort.');
  });

  it('stays English where the other language has no sentence', () => {
    const texts = { offline: undefined } as object;
    assert.equal(errorText(errorOf('connection_lost'), texts), 'You are offline.');
  });
});
