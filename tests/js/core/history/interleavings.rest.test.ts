import { describe, it } from 'node:test';
import fc from 'fast-check';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { sqliteFiles } from '../../../interop/database/shared_databases.js';
import { runs } from '../../../properties.js';
import { STEPS, takeSteps } from './interleavings.js';

describe('Any interleaving of appends, rewinds, switches, forks and compactions', () => {
  const newFile = sqliteFiles();

  it('has the state and the transcript of a model, over memory', async () => {
    const takes = (steps: Parameters<typeof takeSteps>[1]) =>
      takeSteps(new InMemorySessionService(), steps);
    await fc.assert(fc.asyncProperty(STEPS, takes), runs(5000, true));
  });

  it('has the state and the transcript of a model, over SQLite', async () => {
    const service = new DatabaseSessionService((await newFile()).ours);
    const takes = (steps: Parameters<typeof takeSteps>[1]) => takeSteps(service, steps);
    await fc.assert(fc.asyncProperty(STEPS, takes), runs(300, true));
    await service.close();
  });
});
