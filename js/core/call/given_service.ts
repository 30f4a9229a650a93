import { invalidValue } from '../../values/errors/invalid.js';
import type { MethodName } from '../../values/model/service_methods.js';
import { isThenable } from '../../values/members.js';

/** A service, or the promise of one that is being opened. */
export type GivenService<Service> = Service | Promise<Service>;

/**
 * Takes a service, or the promise of one.
 *
 * @returns a function that returns the service, or resolves to it. It rejects with `invalid_argument` if the promise
 *   gave something else.
 * @throws SessionError `invalid_argument` if neither is given
 */
export function givenService<Service>(
  given: Service | PromiseLike<Service>,
  methods: readonly MethodName[],
): () => GivenService<Service> {
  if (!isThenable(Object(given) as object)) {
    requireService(given, methods);
    return () => given as Service;
  }
  return async () => {
    const service = await given;
    requireService(service, methods);
    return service;
  };
}

/** @throws SessionError `invalid_argument` if the value lacks one of the methods, as a promise of a service does */
export function requireService(service: unknown, methods: readonly MethodName[]): void {
  const given = Object(service) as Partial<Record<string, unknown>>;
  const missing = methods.filter((method) => typeof given[method] !== 'function');
  if (missing.length === 0) return;
  throw invalidValue('service', `must be a session service with ${missing.join(', ')}`, service);
}
