import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { FileArtifactService, InMemoryArtifactService, LogLevel, setLogLevel } from '@google/adk';
import { InMemorySessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import type { OpenedSessionService } from '../../../../js/service/open_session_service.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { newFolder } from '../../../new_folder.js';
import { BY_CHANCE, CASES, type Methods, type Of, REFUSED, type Subject } from './cases.js';

setLogLevel(LogLevel.ERROR);

/** Makes a service, and the session of a key. */
interface Service {
  readonly methods: Methods;
  createSession(key: Subject['key']): Promise<unknown>;
}

function withSessions(service: OpenedSessionService): Service {
  return { methods: service.artifacts, createSession: (key) => service.createSession(key) };
}

const ofAdk = (methods: Methods): Service => ({ methods, createSession: () => Promise.resolve() });

const SERVICES: readonly (readonly [name: string, of: Of, make: () => Service])[] = [
  [
    'an InMemorySessionService',
    'ours',
    () => withSessions(new InMemorySessionService({ artifacts: true })),
  ],
  [
    'a DatabaseSessionService',
    'ours',
    () => withSessions(new DatabaseSessionService('sqlite::memory:', { artifacts: true })),
  ],
  ['a RemoteSessionService', 'ours', () => withSessions(openRemote().remote)],
  [
    'a service over a folder',
    'our folder',
    () => withSessions(new InMemorySessionService({ artifacts: { folder: newFolder() } })),
  ],
  [
    "a service over @google/adk's InMemoryArtifactService",
    'given',
    () => withSessions(new InMemorySessionService({ artifacts: new InMemoryArtifactService() })),
  ],
  [
    "@google/adk's InMemoryArtifactService",
    "adk's memory",
    () => ofAdk(new InMemoryArtifactService()),
  ],
  [
    "@google/adk's FileArtifactService",
    "adk's folder",
    () => ofAdk(new FileArtifactService(newFolder())),
  ],
];

for (const [name, of, make] of SERVICES) {
  describe(`Artifacts of ${name}`, () => {
    const { methods: service, createSession } = make();
    for (const [index, [title, run, answers]] of CASES.entries()) {
      it(title, async () => {
        const user = { appName: 'shop', userId: `u${index}` };
        const [key, other] = ['s1', 's2'].map((sessionId) => ({ ...user, sessionId })) as [
          Subject['key'],
          Subject['key'],
        ];
        for (const each of [key, other]) await createSession(each);
        const answer = await run({ service, key, other }).catch(() => REFUSED);
        const expected = of in answers ? answers[of] : answers.ours;
        if (expected !== BY_CHANCE) assert.deepEqual(answer, expected);
      });
    }
  });
}
