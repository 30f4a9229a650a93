import { requireService } from './require_service.js';
import { isThenable } from './thenable.js';

/**
 * Takes a service, or the promise of one.
 *
 * @returns a function that resolves to the service. It rejects with `invalid_argument` if the promise gave something
 *   else.
 * @throws SessionError `invalid_argument` if neither is given
 */
export function givenService<Service>(
  given: Service | PromiseLike<Service>,
  methods: readonly string[],
): () => Promise<Service> {
  if (!isThenable(Object(given) as object)) requireService(given, methods);
  return async () => {
    const service = await given;
    requireService(service, methods);
    return service;
  };
}
