// The part of the Cache API that markers use, in memory.

/** Replaces the Cache API of the process. Returns a function that puts the former one back. */
export function fakeCaches(): () => void {
  const named = new Map<string, Map<string, string>>();
  const has = (name: string): Promise<boolean> => Promise.resolve(named.has(name));
  const open = (name: string) => {
    const entries = named.get(name) ?? new Map<string, string>();
    named.set(name, entries);
    const put = async (key: string, response: Response): Promise<void> =>
      void entries.set(key, await response.text());
    return Promise.resolve({ put });
  };
  const match = (key: string, { cacheName }: { readonly cacheName: string }) => {
    const text = named.get(cacheName)?.get(key);
    return Promise.resolve(text === undefined ? undefined : new Response(text));
  };
  const remove = (name: string): Promise<boolean> => Promise.resolve(named.delete(name));
  const before = Object.getOwnPropertyDescriptor(globalThis, 'caches');
  const value = { has, open, match, delete: remove };
  Object.defineProperty(globalThis, 'caches', { value, configurable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(globalThis, 'caches');
    else Object.defineProperty(globalThis, 'caches', before);
  };
}
