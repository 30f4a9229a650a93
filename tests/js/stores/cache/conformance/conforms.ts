// The conformance suite through a cache over a remote service on a handler.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import {
  type CachedSessionOptions,
  CachedSessionService,
  MemoryLocalStore,
} from '../../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import type { Case } from '../../../../../js/testing/case.js';
import { runCase } from '../../../../../js/testing/run_case.js';
import type { OpenServed } from '../../remote/conforms.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../remote/fixture.js';

const file = new URL('../../../../../conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

interface ConformanceSetting {
  /** The cases that end otherwise, with their errors. */
  readonly differences?: Readonly<Record<string, RegExp>>;
  /** Whether no request reaches the handler. */
  readonly isOffline?: boolean;
  /**
   * Whether the cases that set the clock are left out. With `write: 'local'` the remote gives a session the time at which it
   * arrives, which is later than the call.
   */
  readonly isTimeless?: boolean;
}

/**
 * Runs the suite over a cache over a remote service on a handler over the service that `open` returns.
 *
 * @param options options of the cache
 */
export function conforms(
  title: string,
  open: OpenServed,
  options: Pick<CachedSessionOptions, 'reads' | 'write'> = {},
  { differences = {}, isOffline = false, isTimeless = false }: ConformanceSetting = {},
): void {
  describe(`A cache over a remote service on a handler over ${title}`, () => {
    for (const testCase of cases) {
      if (isTimeless && JSON.stringify(testCase.steps).includes('"now"')) continue;
      it(testCase.name, async () => {
        const opened: { close(): Promise<void> }[] = [];
        const run = runCase(testCase, async ({ clock, ...given }) => {
          const service = await open({ clock });
          const handler = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
          const lost = () => Promise.reject(new TypeError('fetch failed'));
          const fetch = isOffline ? lost : handler;
          const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
          const local = new MemoryLocalStore();
          opened.push(service, remote);
          return new CachedSessionService({
            ...{ ...given, ...options, clock, remote, local },
            owner: 'ada',
          });
        });
        const difference = differences[testCase.name];
        if (difference === undefined) await run;
        else await assert.rejects(run, { message: difference });
        for (const service of opened.reverse()) await service.close();
      });
    }
  });
}
