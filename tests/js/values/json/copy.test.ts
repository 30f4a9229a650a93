import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ownMembers } from '../../../../js/values/json/copy.js';

describe('What a call takes of its request', () => {
  it('are the arrays and objects as they were at the call', () => {
    const [keys, labels] = [['topic'], { kind: 'chat' }];
    const own = [ownMembers(keys), ownMembers(labels), ownMembers('text')];
    keys.push('other');
    labels.kind = 'changed';
    assert.deepEqual(own, [['topic'], { kind: 'chat' }, 'text']);
  });
});
