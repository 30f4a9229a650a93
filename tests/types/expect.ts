// The tests of types: code that the step `tsc` compiles, and that never runs.

/** A part of the types. */
export function describe(title: string, parts: () => void): void {
  void [title, parts];
}

/** One property of the types: it holds if the code compiles. */
export function it(title: string, code: () => unknown): void {
  void [title, code];
}

/** Whether two types are the same, and not only assignable to each other. */
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `is<T>()(value)` compiles only if the type of the value is T, and not one that fits it. */
export function is<T>(): <U>(
  value: U,
  ...difference: Equal<T, U> extends true ? [] : ['the type is another one']
) => void {
  return () => undefined;
}

/** Compiles the code in the function, and does not run it. */
export function compiled(run: (...given: never[]) => unknown): void {
  void run;
}
