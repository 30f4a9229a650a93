// The test bundles a module of its own in place of this one: the components of docs/live.md, as Svelte compiles them,
// and libraries that hold a snapshot in a form of their own.

/** Shows the component with a store. Returns a function that removes it. */
export function showStore(target: Element): () => void;
/** Shows the component with runes. */
export function showRunes(target: Element): () => void;
/** Returns the value as each library holds it, by the library's name. */
export const holders: Readonly<Record<string, <T>(value: T) => T>>;
