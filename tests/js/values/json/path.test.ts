import assert from 'node:assert/strict';
import test from 'node:test';
import { formatPath } from '../../../../js/values/json/rules.js';

test('formatPath writes members and elements as JavaScript does', () => {
  assert.equal(formatPath(['cart', 'items', 3, 'price']), 'cart.items[3].price');
});

test('formatPath quotes a key that is not an identifier', () => {
  assert.equal(
    formatPath(['user:cart', 'a-b', '', 'x"y', '0']),
    '["user:cart"]["a-b"][""]["x\\"y"]["0"]',
  );
});

test('formatPath accepts identifiers of any script', () => {
  assert.equal(formatPath(['이름', 'naïve', '$a', '_b']), '이름.naïve.$a._b');
});

test('formatPath of no segments is empty', () => {
  assert.equal(formatPath([]), '');
});
