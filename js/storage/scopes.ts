import type { WriteRequest } from './adapter.js';

const NAMES = ['session', 'user', 'app'] as const;

/** Scopes by the sum of their numbers, as Rust's `ScopeSet` has it: session 1, user 2, app 4. */
export function scopesOf(sum: number): WriteRequest['scopes'] {
  return NAMES.filter((_, bit) => (sum >> bit) & 1);
}
