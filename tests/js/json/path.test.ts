import assert from 'node:assert/strict';
import test from 'node:test';
import { formatPath } from '../../../js/json/path.js';

test('members and elements are written as in JavaScript', () => {
  assert.equal(formatPath(['cart', 'items', 3, 'price']), 'cart.items[3].price');
});

test('a key that is no identifier is quoted', () => {
  assert.equal(
    formatPath(['user:cart', 'a-b', '', 'x"y', '0']),
    '["user:cart"]["a-b"][""]["x\\"y"]["0"]',
  );
});

test('identifiers may be of any script', () => {
  assert.equal(formatPath(['이름', 'naïve', '$a', '_b']), '이름.naïve.$a._b');
});

test('no steps are no text', () => {
  assert.equal(formatPath([]), '');
});
