import type { SessionService, SessionServiceOptions } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { closing, conforms as declare, type Expectations } from '../../conforms.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from './fixture.js';

/** The cases that a remote service cannot fulfil: a function cannot run in a transaction of another process. */
const FUNCTIONS: Expectations = [
  [
    /ended with unsupported/,
    'count: concurrent functions of an app, a user and a session lose nothing',
    'count: a function of a session is stored as an event by the user',
    'count: a function that changes nothing or fails writes nothing',
    'count: keys of scopes that are not named, and a missing session, are refused',
  ],
];

/** Opens the service that the handler serves. */
export type OpenServed = (
  options: Pick<SessionServiceOptions, 'clock'>,
) => SessionService | Promise<SessionService>;

/** Runs the suite over a remote service on a handler over the service that `open` returns. */
export function conforms(title: string, open: OpenServed, expectations: Expectations = []): void {
  declare(
    `A remote service on a handler over ${title}`,
    async ({ clock, ...options }) => {
      const service = await open({ clock });
      const fetch = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
      const url = URL_OF_SERVER;
      return closing(new RemoteSessionService({ ...options, clock, url, fetch }), service);
    },
    { expectations: [...FUNCTIONS, ...expectations] },
  );
}
