import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import type { SessionService, SessionServiceOptions } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import type { Case } from '../../../../js/testing/case.js';
import { runCase } from '../../../../js/testing/run_case.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from './fixture.js';

const file = new URL('../../../../conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

/** A function cannot run in a transaction of another process. */
const NO_FUNCTIONS = /ended with unsupported/;

/** The cases that a remote service cannot fulfil, with the errors that they end with. */
const DIFFERENCES: Readonly<Record<string, RegExp>> = {
  'count: concurrent functions of an app, a user and a session lose nothing': NO_FUNCTIONS,
  'count: a function of a session is stored as an event by the user': NO_FUNCTIONS,
  'count: a function that changes nothing or fails writes nothing': NO_FUNCTIONS,
  'count: keys of scopes that are not named, and a missing session, are refused': NO_FUNCTIONS,
};

/** Opens the service that the handler serves. */
export type OpenServed = (
  options: Pick<SessionServiceOptions, 'clock'>,
) => SessionService | Promise<SessionService>;

/**
 * Runs the suite over a remote service on a handler over the service that `open` returns.
 *
 * @param refused the cases that the storage cannot fulfil, with their errors
 */
export function conforms(
  title: string,
  open: OpenServed,
  refused: Readonly<Record<string, RegExp>> = {},
): void {
  const differences = { ...DIFFERENCES, ...refused };
  describe(`A remote service on a handler over ${title}`, () => {
    for (const testCase of cases) {
      it(testCase.name, async () => {
        const served: SessionService[] = [];
        const run = runCase(testCase, async ({ clock, ...options }) => {
          const service = await open({ clock });
          served.push(service);
          const fetch = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
          return new RemoteSessionService({ ...options, clock, url: URL_OF_SERVER, fetch });
        });
        const difference = differences[testCase.name];
        if (difference === undefined) await run;
        else await assert.rejects(run, { message: difference });
        await Promise.all(served.map((service) => service.close()));
      });
    }
  });
}
