/**
 * Loads a package that may not be installed. Its name is hidden from bundlers, which would
 * otherwise require every driver.
 *
 * @returns `undefined` if the package is not installed; throws the package's own error if loading
 *   it fails
 */
export async function loadOptional<Module>(name: string): Promise<Module | undefined> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as Module;
  } catch (error) {
    if (isMissingPackage(error, name)) return undefined;
    throw error;
  }
}

/** Returns the package that Yarn's Plug'n'Play has not found, from its error's message. */
function requiredByYarn(message: unknown): string | undefined {
  return /^Required package: (\S+)/m.exec(String(message))?.[1];
}

/** Whether an import failed because this package is not installed, and not one that it needs itself. */
export function isMissingPackage(error: unknown, name: string): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return (
    // The second code is that of `require`, which Jest makes of `import()` in CommonJS mode.
    ((code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
      (String(message).includes(`'${name}'`) || requiredByYarn(message) === name)) ||
    code === 'ERR_UNKNOWN_BUILTIN_MODULE' ||
    // The messages of pages and of Deno, which differ.
    (error instanceof TypeError && /specifier|dependency/i.test(String(message)))
  );
}
