// The conformance suite through a cache over a remote service on a handler.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { type CachedSessionOptions, CachedSessionService } from '../../../../js/cache/index.js';
import { RemoteSessionService } from '../../../../js/remote/index.js';
import type { Case } from '../../../../js/testing/case.js';
import { runCase } from '../../../../js/testing/run_case.js';
import type { OpenServed } from '../../remote/conforms.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../remote/fixture.js';

const file = new URL('../../../../src/conformance/cases.json', import.meta.url);
/** The local storage has the owner and the app as one name, so an app's name must be shorter. */
const UNSUPPORTED = 'ids of 512 bytes are the longest, and their last byte counts';
const cases = (JSON.parse(readFileSync(file, 'utf8')) as Case[]).filter(
  ({ name }) => name !== UNSUPPORTED,
);

/**
 * Runs the suite over a cache over a remote service on a handler over the service that `open` returns.
 *
 * @param options options of the cache
 * @param differences the cases that end otherwise, with their errors
 */
export function conforms(
  title: string,
  open: OpenServed,
  options: Pick<CachedSessionOptions, 'reads' | 'write'> = {},
  differences: Readonly<Record<string, RegExp>> = {},
): void {
  describe(`A cache over a remote service on a handler over ${title}`, () => {
    for (const testCase of cases) {
      it(testCase.name, async () => {
        const opened: { close(): Promise<void> }[] = [];
        const run = runCase(testCase, async ({ clock, ...given }) => {
          const service = await open({ clock });
          const fetch = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
          const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
          const local = new InMemorySessionService();
          opened.push(service, remote, local);
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
