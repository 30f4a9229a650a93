/**
 * A module that no browser has, or its member. It can be read, as the framework does while it loads. A call throws an
 * error with its name.
 */
export function absent(name: string): object {
  function fail(): never {
    throw new Error(`${name} is not in a browser`);
  }
  // Its prototype, since esbuild copies the own members of a module that is imported, and keeps what it inherits.
  const members = new Proxy(
    {},
    { get: (_, member) => (typeof member === 'string' ? absent(`${name}.${member}`) : undefined) },
  );
  return Object.setPrototypeOf(fail, members) as object;
}
