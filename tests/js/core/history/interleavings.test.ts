import { it } from 'node:test';
import fc from 'fast-check';

import { InMemorySessionService } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { runs } from '../../../properties.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { STEPS, takeSteps } from './interleavings.js';

it('any interleaving of appends, rewinds, switches, forks and compactions has the state and the transcript of a model', async () => {
  const takes = (steps: Parameters<typeof takeSteps>[1]) =>
    takeSteps(new InMemorySessionService(), steps);
  await fc.assert(fc.asyncProperty(STEPS, takes), runs(300));
});

it('any interleaving has the state and the transcript of a model over HTTP, for a user with rights', async () => {
  const takes = (steps: Parameters<typeof takeSteps>[1]) => {
    const handler = handlerOn(new InMemorySessionService(), {
      authorize: () => ({ mayWriteAgentEvents: true, mayWriteUserState: true }),
    });
    const fetch = fetchFrom(handler);
    return takeSteps(new RemoteSessionService({ url: URL_OF_SERVER, fetch }), steps);
  };
  await fc.assert(fc.asyncProperty(STEPS, takes), runs(60));
});
