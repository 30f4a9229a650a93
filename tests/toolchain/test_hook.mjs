// Loaded before `node:test`. It remembers the async hook with which `node:test` follows every promise of a test, so that
// `withoutTestHook` can pause it.

import hooks from 'node:async_hooks';

const { createHook } = hooks;
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook;
  const hook = createHook(callbacks);
  Object.assign(globalThis, { testHook: hook });
  return hook;
};
