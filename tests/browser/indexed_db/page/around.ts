type Method = (this: object, ...values: unknown[]) => unknown;

/**
 * Puts `run` around a method of the browser's own: it gets the object, the arguments, and what calls the method
 * on that object. Returns what takes it away again.
 */
export function around<T extends object>(
  prototype: T,
  name: keyof T,
  run: (target: T, values: unknown[], proceed: (...values: unknown[]) => unknown) => unknown,
): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  const method = descriptor?.value as Method;
  Object.defineProperty(prototype, name, {
    ...descriptor,
    value(this: T, ...values: unknown[]) {
      return run(this, values, (...given) => method.apply(this, given));
    },
  });
  return () => Object.defineProperty(prototype, name, descriptor!);
}
