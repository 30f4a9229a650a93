import { it } from 'node:test';
import fc from 'fast-check';

import { InMemorySessionService } from '../../../js/index.js';
import { runs } from '../../properties.js';
import { STEPS, takeSteps } from './interleavings.js';

it('any interleaving of appends, rewinds, switches, forks and compactions has the state and the transcript of a model', async () => {
  const takes = (steps: Parameters<typeof takeSteps>[1]) =>
    takeSteps(new InMemorySessionService(), steps);
  await fc.assert(fc.asyncProperty(STEPS, takes), runs(300));
});
