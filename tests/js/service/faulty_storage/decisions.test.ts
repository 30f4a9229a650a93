import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../js/index.js';
import { APP, failure, KEY, stored, texts, USER } from '../fixture.js';
import { faulty } from './faulty_storage.js';

describe('The decision', () => {
  for (const verb of ['create', 'append'] as const) {
    it(`that a storage never calls is reported (${verb})`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => (storage[verb] = () => undefined));
      const error = await failure(calls[verb](), 'storage_failed');
      assert.match(error.message, /decide/);
      await isUnharmed();
    });

    it(`that a storage calls after its verb has ended is refused (${verb})`, async () => {
      let late: unknown;
      const calledLate = new Promise<void>((resolve) => {
        void faulty((storage) => {
          storage[verb] = (request, decide) => {
            setTimeout(() => {
              try {
                decide(storage.find(request));
              } catch (error) {
                late = error;
              }
              resolve();
            }, 5);
          };
        }).then(async ({ calls, isUnharmed }) => {
          await failure(calls[verb](), 'storage_failed');
          await calledLate;
          await isUnharmed();
        });
      });
      await calledLate;
      assert.ok(late instanceof SessionError);
      assert.equal(late.code, 'storage_failed');
      assert.match(late.message, /decide/);
    });

    it(`may be called again, and the last result counts (${verb})`, async () => {
      const { service, session, calls } = await faulty((storage) => {
        storage[verb] = (request, decide) => {
          const found = storage.find(request);
          decide({ ...found, floor: found.floor + 10 });
          decide({ ...found, session: undefined, user: undefined, app: undefined });
          storage.write(request, decide);
        };
      });
      await calls[verb]();
      if (verb === 'create') {
        assert.equal((await service.listSessions(APP)).totalItems, 2);
        return;
      }
      assert.deepEqual(texts(session), ['one', 'two']);
      assert.deepEqual((await stored(service)).state, { a: 2, 'user:u': 2, 'app:p': 2 });
    });

    it(`that threw still fails the call if the storage swallows errors (${verb})`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage[verb] = (_, decide) => {
          try {
            decide(5 as never);
          } catch {
            // A storage must not do this.
          }
        };
      });
      await failure(calls[verb](), 'storage_failed');
      await isUnharmed();
    });
  }

  it('that threw still fails updateState too', async () => {
    const { service, isUnharmed } = await faulty((storage) => {
      storage.append = (_, decide) => {
        try {
          decide(5 as never);
        } catch {
          // A storage must not do this.
        }
      };
    });
    const update = service.updateState({ ...USER, stateDelta: { 'user:u': 5 } });
    await failure(update, 'storage_failed');
    await isUnharmed();
  });

  it('that refuses keeps its error code through the storage', async () => {
    const { service } = await faulty(() => undefined);
    await failure(service.createSession(KEY), 'already_exists');
    await service.deleteSession(KEY);
    await failure(service.updateState({ ...KEY, stateDelta: { a: 1 } }), 'not_found');
  });

  it('returns everything to write, and shares no object', async () => {
    const { session, calls } = await faulty((storage) => {
      storage.append = (request, decide) => {
        assert.deepEqual(request.key, KEY);
        assert.deepEqual([...request.scopes].sort(), ['app', 'session', 'user']);
        assert.equal(request.eventIds.length, 1);
        const changes = decide(storage.find(request));
        assert.ok(changes?.session);
        const { appName, userId, sessionId, created, revision, state } = changes.session;
        assert.deepEqual({ appName, userId, sessionId }, KEY);
        assert.ok(revision > created);
        assert.equal(state, '{"a":2}');
        assert.equal(changes.user?.state, '{"u":2}');
        assert.equal(changes.app?.state, '{"p":2}');
        const [event] = changes.events;
        assert.deepEqual([event?.id, event?.seq, event?.revision], [request.eventIds[0], revision, revision]); // prettier-ignore
        assert.equal((JSON.parse(event!.text) as { id: string }).id, event?.id);
        storage.write(request, () => changes);
      };
    });
    await calls.append();
    assert.deepEqual(session.state, { a: 2, 'user:u': 2, 'app:p': 2 });
  });
});
