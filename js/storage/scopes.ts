import { SCOPES } from '../wasm/protocol.js';
import type { WriteRequest } from './adapter.js';

const NAMES = ['session', 'user', 'app'] as const;

/** Returns the names of the scopes in a sum of {@link SCOPES}. */
export function scopesOf(sum: number): WriteRequest['scopes'] {
  return NAMES.filter((name) => (sum & SCOPES[name]) !== 0);
}
