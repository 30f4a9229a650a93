/** The dialects of session files: that of `@google/adk`, Python's, and both mixtures. */
export const DIALECTS = [
  { casing: 'camel', timeUnit: 'milliseconds' },
  { casing: 'snake', timeUnit: 'seconds' },
  { casing: 'camel', timeUnit: 'seconds' },
  { casing: 'snake', timeUnit: 'milliseconds' },
] as const;
