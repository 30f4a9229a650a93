import { invalidValue } from '../errors/invalid.js';

/** @throws SessionError `invalid_argument` if the value lacks one of the methods, as a promise of a service does */
export function requireService(service: unknown, methods: readonly string[]): void {
  const given = Object(service) as Partial<Record<string, unknown>>;
  const missing = methods.filter((method) => typeof given[method] !== 'function');
  if (missing.length === 0) return;
  throw invalidValue('service', `must be a session service with ${missing.join(', ')}`, service);
}
