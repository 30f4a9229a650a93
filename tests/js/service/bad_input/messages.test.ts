// The message of a refusal shows no secret.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { begin, failure, KEY, overStorages, says, USER } from '../fixture.js';

overStorages('A refused argument', (open) => {
  it('shows no value of a state', async () => {
    const { service, session } = await begin(open);
    const stateDelta = 'secret' as never;
    const event = { ...says('x'), actions: { stateDelta } } as never;
    const calls = [
      service.updateState({ ...KEY, stateDelta }),
      service.createSession({ ...USER, state: stateDelta }),
      service.appendEvent({ session, event }),
    ];
    for (const call of calls) {
      assert.doesNotMatch((await failure(call, 'invalid_argument')).message, /secret/);
    }
  });
});

it('A refused option of a service shows no token, no key and no URL', () => {
  const makers = [
    () => new DatabaseSessionService('mongo://ada:secret@host/db'),
    () => new DatabaseSessionService('postgresql://ada:secret@'),
    () => new VertexAiSessionService({ accessToken: { token: 'secret' } as never }),
    () => new VertexAiSessionService({ expressModeApiKey: ['secret'] as never }),
    () => new VertexAiSessionService({ baseUrl: 'https://ada:secret@host' }),
    () => new InMemorySessionService({ clock: 'secret' as never, onDiagnostic: {} as never }),
  ];
  for (const make of makers) {
    assert.throws(make, ({ code, message }: { code: string; message: string }) => {
      assert.doesNotMatch(message, /secret/);
      return code === 'invalid_argument';
    });
  }
});
