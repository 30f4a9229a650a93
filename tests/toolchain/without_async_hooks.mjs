// Loaded before `node:test`, which sets an async hook on every promise to name the test behind an uncaught exception. That
// takes a third of the time of tests that await much. Without the hook such an exception still fails its test file.

import hooks from 'node:async_hooks';

const hook = { enable: () => hook, disable: () => hook };
// `AsyncLocalStorage` does not call this function.
hooks.createHook = () => hook;
