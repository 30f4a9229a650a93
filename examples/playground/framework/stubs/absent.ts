/**
 * Stands for a module that no browser has, or for a member of it. Members can be read, as the framework does while it
 * loads. A call throws an error with the name.
 */
export function absent(name: string): object {
  function fail(): never {
    throw new Error(`${name} is not in a browser`);
  }
  // The proxy is the prototype: esbuild copies the own members of an imported module, and keeps inherited ones.
  const members = new Proxy(
    {},
    { get: (_, member) => (typeof member === 'string' ? absent(`${name}.${member}`) : undefined) },
  );
  return Object.setPrototypeOf(fail, members) as object;
}
