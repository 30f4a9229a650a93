import type { AsyncHook } from 'node:async_hooks';

/**
 * Runs a part of a test without the async hook of `node:test`, which takes a third of the time of code that awaits much.
 * Meanwhile no test and no hook of a test can be declared, and the test listens to uncaught errors itself.
 */
export async function withoutTestHook(run: () => Promise<void>): Promise<void> {
  // Set by test_hook.mjs; absent if a test file is run without it.
  const { testHook } = globalThis as { testHook?: AsyncHook };
  testHook?.disable();
  try {
    await run();
  } finally {
    testHook?.enable();
  }
}
