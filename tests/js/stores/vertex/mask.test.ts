import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { makeMask } from '../../../../js/stores/http/mask.js';

const SECRET = 'ya29.a0/Ab+c=="\\<&~s3cret';

describe('The mask of a secret', () => {
  const masked = makeMask(SECRET);
  const forms: [title: string, text: string][] = [
    ['as it is', SECRET],
    ['in JSON', JSON.stringify(SECRET)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(SECRET))],
    ["in Google's JSON", JSON.stringify(SECRET).replace(/[<=&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
    ['in JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a URL, all of it escaped', SECRET.replace(/[^]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)],
    ['in a URL within a URL', encodeURIComponent(encodeURIComponent(SECRET))],
    ['in HTML', SECRET.replace(/["<&]/g, (c) => `&#${c.charCodeAt(0)};`)],
  ]; // prettier-ignore
  for (const [title, text] of forms) {
    it(`removes it ${title}`, () => {
      const shown = masked(`before ${text} after`);
      assert.match(shown, /^before .*\*\*\*.* after$/);
      assert.doesNotMatch(shown, /s3cr/);
    });
  }

  it('keeps all other text', () => {
    const text = '{"error":{"message":"No such session.","status":"NOT_FOUND"}}';
    assert.equal(masked(text), text);
    assert.equal(makeMask('a-key')('a key for key-a'), 'a key for key-a');
  });
});
