// Rewinds over Vertex AI, whose API has no field for them: what `rawEvent` keeps, and what is lost.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import {
  branches,
  fork,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import type { Session } from '../../../../js/index.js';
import type { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { startVertexServer, type VertexServer } from '../../../vertex_server/server.js';
import { KEY, serviceOn } from '../../stores/vertex/service.js';

describe('A history over Vertex AI', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  let session: Session;
  beforeEach(async () => {
    server = await startVertexServer({});
    service = serviceOn(server);
    session = await service.createSession({ ...KEY, state: { mood: 'calm' } });
  });
  afterEach(async () => {
    await service.close();
    await server.end();
  });

  async function say(id: string, stateDelta: Record<string, string> = {}): Promise<void> {
    const actions = {
      stateDelta,
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    };
    const content = { role: 'user', parts: [{ text: id }] };
    await service.appendEvent({
      session,
      event: { id, invocationId: id, author: 'user', content, actions },
    });
  }

  async function shown(): Promise<string[]> {
    const config = { view: 'transcript' } as const;
    session = (await service.getSession({ ...KEY, config }))!;
    return session.events.map(({ id }) => id);
  }

  it('is rewound, brought back, and switched', async () => {
    await say('green', { tea: 'green' });
    await rewind(service, { ...KEY, before: { invocationId: 'green' } });
    assert.deepEqual(await shown(), []);
    assert.equal(session.state.tea, undefined);
    await say('black', { tea: 'black' });

    const [turn] = await branches(service, KEY);
    const first = turn!.alternatives[0]!;
    assert.equal(first.invocationId, 'green');
    await switchBranch(service, { ...KEY, branch: first.branch! });
    assert.deepEqual(await shown(), ['green']);
    assert.equal(session.state.tea, 'green');

    await undoRewind(service, KEY);
    assert.deepEqual(await shown(), ['black']);
    assert.equal(session.state.tea, 'black');
  });

  it('has no known initial state: a rewind removes a key that later events write, and names it', async () => {
    await say('loud', { mood: 'lively' });
    const { unknownKeys } = await rewind(service, { ...KEY, before: { invocationId: 'loud' } });
    assert.deepEqual(unknownKeys, ['mood']);
    await shown();
    assert.equal(session.state.mood, undefined);
  });

  it('is forked, with the state of the place', async () => {
    await say('one', { cups: '1' });
    await say('two', { cups: '2' });
    const forked = await fork(service, { ...KEY, newSessionId: 's2', at: { eventId: 'one' } });
    assert.deepEqual(
      forked.events.map(({ id }) => id),
      ['one'],
    );
    assert.deepEqual(forked.state, { mood: 'calm', cups: '1' });
    assert.deepEqual((await stateAt(service, { ...KEY, eventId: 'two' })).state, {
      mood: 'calm',
      cups: '2',
    });
  });

  it('keeps the marker in `rawEvent` alone: the fields of the API do not show it', async () => {
    await say('green');
    await rewind(service, { ...KEY, before: { invocationId: 'green' } });
    const { actions, rawEvent } = server.events(KEY.sessionId).at(-1) as {
      actions: object;
      rawEvent: { actions: object };
    };
    assert.equal('rewindBeforeInvocationId' in actions, false);
    assert.equal('rewindBeforeInvocationId' in rawEvent.actions, true);
  });
});
