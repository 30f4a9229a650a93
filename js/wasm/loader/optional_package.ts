/**
 * Loads a package that may not be there. By a name that bundlers cannot see, which would otherwise insist
 * on every driver.
 *
 * @returns `undefined` if it is not there; throws what it throws if it is there and fails
 */
export async function loadOptional<Module>(name: string): Promise<Module | undefined> {
  try {
    return (await import(/* @vite-ignore */ name)) as Module;
  } catch (error) {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown };
    // A driver that is there but lacks a package of its own is another thing, and speaks for itself.
    const isMissing =
      (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(`'${name}'`)) ||
      code === 'ERR_UNKNOWN_BUILTIN_MODULE' ||
      // Pages, and Deno, in the words of each engine.
      (error instanceof TypeError && /specifier|dependency/i.test(String(message)));
    if (isMissing) return undefined;
    throw error;
  }
}
