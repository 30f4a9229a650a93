// Two processes over one SQLite database: one runs an agent, the other one cancels.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { RunAgent } from '../../../../../js/ui/live/index.js';
import { LOADER } from '../../../loader.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, gate, openChat, says, textsOf } from './agents.js';

/** An event with a call, so that the run has not ended. */
const calls = {
  author: 'guide',
  content: {
    role: 'model',
    parts: [{ text: 'one' }, { functionCall: { id: 'c1', name: 'look', args: {} } }],
  },
};

async function openDatabase(test: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'cancel-'));
  const url = `sqlite:${join(folder, 'sessions.db')}`;
  const service = new DatabaseSessionService(url);
  test.after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  return { url, service };
}

async function cancelInAnotherProcess(url: string): Promise<void> {
  const program = fileURLToPath(import.meta.resolve('./programs/cancels.js'));
  await promisify(execFile)(process.execPath, [...LOADER, program, url]);
}

it('a run that another process cancels stores nothing more, and ends as cancelled', async (test) => {
  const { url, service } = await openDatabase(test);
  const [first, next] = [gate(), gate()];
  const agent: RunAgent = async function* () {
    yield calls;
    first.open();
    await next.opened;
    yield { author: 'guide', content: says('late') };
  };
  const { chat, stop } = await openChat(agent, { service });
  test.after(stop);
  const message = await chat.ask(asks('hi'));
  await first.opened;
  await cancelInAnotherProcess(url);
  next.open();
  const { run } = await snapshotOf(chat, ({ run }) => run?.status !== 'running');
  assert.deepEqual(run, { status: 'cancelled', messageId: message.id });
  const { events = [] } = (await service.getSession(KEY)) ?? {};
  assert.deepEqual(textsOf(events), ['hi', 'one', '']);
  assert.deepEqual(
    events.slice(2).map(({ errorCode }) => errorCode),
    ['INVOCATION_ABORTED'],
  );
});

it('two processes that cancel a run at once store one end event', async (test) => {
  const { url, service } = await openDatabase(test);
  const agent: RunAgent = async function* ({ signal }) {
    yield calls;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  const { chat, stop } = await openChat(agent, { service });
  test.after(stop);
  const message = await chat.ask(asks('hi'));
  await Promise.all([chat.cancel(), cancelInAnotherProcess(url), cancelInAnotherProcess(url)]);
  assert.deepEqual(chat.getSnapshot().run, { status: 'cancelled', messageId: message.id });
  const { events = [] } = (await service.getSession(KEY)) ?? {};
  assert.equal(events.filter(({ errorCode }) => errorCode !== undefined).length, 1);
});
