/** What session files are written in: `@google/adk`'s own, Python's, and both mixtures. */
export const DIALECTS = [
  { casing: 'camel', timeUnit: 'milliseconds' },
  { casing: 'snake', timeUnit: 'seconds' },
  { casing: 'camel', timeUnit: 'seconds' },
  { casing: 'snake', timeUnit: 'milliseconds' },
] as const;
