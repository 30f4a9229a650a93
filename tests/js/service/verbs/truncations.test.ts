import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { mapAdapter } from '../../../../examples/map_adapter.js';
import {
  InMemorySessionService,
  isSessionError,
  openSessionService,
} from '../../../../js/index.js';
import { replaceEnd } from '../../../../js/service/replace_end.js';
import { event, replace, REPLACE, TRUNCATIONS } from './truncations.js';

REPLACE.end = replaceEnd;

describe('a replaced end of a history, in memory', () => {
  for (const [name, run] of Object.entries(TRUNCATIONS)) {
    it(name, () => run(new InMemorySessionService()));
  }
});

it("a user's adapter never gets a removal", async () => {
  const adapter = mapAdapter();
  const service = await openSessionService({ storage: adapter });
  const session = await service.createSession({ appName: 'cuts', userId: 'ada', sessionId: 's' });
  await service.appendEvent({ session, event: event('e') });
  const replaced = replace(service, 's', { after: 0 });
  await assert.rejects(replaced, (error) => isSessionError(error, 'unsupported'));
  const read = await service.getSession({ appName: 'cuts', userId: 'ada', sessionId: 's' });
  assert.equal(read?.events.length, 1);
});
