import { it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { feedsAndWriters } from './feeds_and_writers.js';

it('200 feeds over HTTP get the last change of each of 50 writers, in order', async () => {
  const service = new InMemorySessionService();
  await feedsAndWriters(service, (count) => count === 20);
  await service.close();
});
