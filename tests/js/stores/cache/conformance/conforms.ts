// The conformance suite through a cache over a remote service on a handler, or over a service of the same process.

import {
  type CachedSessionOptions,
  CachedSessionService,
  MemoryLocalStore,
} from '../../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { CASES, closing, conforms as declare, type Expectations } from '../../../conforms.js';
import type { OpenServed } from '../../remote/conforms.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../remote/fixture.js';

interface CacheSetting {
  readonly expectations?: Expectations;
  /** Whether the cache is over the service itself, without HTTP. */
  readonly isInProcess?: boolean;
  /** Whether no request reaches the handler. */
  readonly isOffline?: boolean;
  /**
   * Whether the cases that set the clock are left out. With `write: 'local'` the remote gives a session the time at which it
   * arrives, which is later than the call.
   */
  readonly isTimeless?: boolean;
}

/**
 * Runs the suite over a cache over the service that `open` returns, over HTTP unless `isInProcess`.
 *
 * @param options options of the cache
 */
export function conforms(
  title: string,
  open: OpenServed,
  options: Pick<CachedSessionOptions, 'reads' | 'write'> = {},
  setting: CacheSetting = {},
): void {
  const { expectations, isOffline = false, isTimeless = false, isInProcess = false } = setting;
  const setsClock = ({ steps }: (typeof CASES)[number]) => JSON.stringify(steps).includes('"now"');
  const cases = CASES.filter((testCase) => !isTimeless || !setsClock(testCase));
  declare(
    `A cache over ${isInProcess ? '' : 'a remote service on a handler over '}${title}`,
    async ({ clock, ...given }) => {
      const service = await open({ clock });
      const handler = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
      const lost = () => Promise.reject(new TypeError('fetch failed'));
      const fetch = isOffline ? lost : handler;
      const remote = isInProcess
        ? service
        : new RemoteSessionService({ url: URL_OF_SERVER, fetch });
      const local = new MemoryLocalStore();
      const cache = new CachedSessionService({
        ...given,
        ...options,
        clock,
        remote,
        local,
        owner: 'ada',
      });
      return closing(cache, remote, service);
    },
    { cases, ...(expectations && { expectations }) },
  );
}
