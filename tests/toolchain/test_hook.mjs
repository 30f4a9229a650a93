// Loaded before `node:test`, whose async hook follows every promise from its creation to its collection, to find the test
// of an uncaught error. That takes a sixth of the time of code that awaits much. Here the hook sees the declarations of
// tests alone: an uncaught error fails its file, not its test. `withoutTestHook` pauses the hook altogether.

import hooks from 'node:async_hooks';

const { createHook } = hooks;
const declarations = ['Suite', 'Test', 'TestHook'];

hooks.createHook = ({ init }) => {
  hooks.createHook = createHook;
  const hook = createHook({
    init(id, type, ...rest) {
      if (declarations.includes(type)) init?.(id, type, ...rest);
    },
  });
  Object.assign(globalThis, { testHook: hook });
  return hook;
};
