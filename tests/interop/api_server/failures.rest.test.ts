// What a page over the real `adk api_server` shows of an agent that fails: the page that asked, the same page after a
// reload, and a page on another device.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { FinishReason } from '@google/genai';

import { isSessionError } from '../../../js/index.js';
import { MemoryLocalStore } from '../../../js/service/cache/index.js';
import type { LiveSessionSnapshot } from '../../../js/ui/live/index.js';
import { sqliteFiles } from '../database/shared_databases.js';
import type { Replies } from '../runs/scripted_agents.js';
import { type ApiServer, startApiServer } from './api_server.js';
import { calls, lineOf, newKey, Page, partial, says } from './pages.js';

interface Expected {
  /** `undefined`: the message has an answer. */
  readonly status: 'failed' | 'unanswered' | undefined;
  /** What the cause of the error is. */
  readonly cause?: { readonly code: string; readonly message: string };
  /** The half answer that stays in the page that asked. */
  readonly draft?: string;
  /** What other pages show, if Python stores nothing of the failure: only the page that asked has heard of it. */
  readonly elsewhere?: 'unanswered' | 'answered';
}

const raised: Expected = {
  status: 'failed',
  cause: { code: 'RuntimeError', message: 'no tea left' },
};
const fail = { fail: 'no tea left' };
const NO_CONTENT = {
  code: 'MODEL_RETURNED_NO_CONTENT',
  message:
    'The model returned no actionable content (finish_reason=STOP with thought-only or whitespace-only parts).',
};
const thought = (text: string) => ({ role: 'model', parts: [{ text, thought: true }] });

/** The replies of the model by what happens, and the app whose agent asks it. */
const CASES: Readonly<Record<string, readonly [Replies, Expected, app?: string]>> = {
  'the model raises': [[[fail]], raised],
  'partials, then the model raises': [
    [[partial('Gre'), { wait: 0.2 }, partial('en'), { wait: 0.2 }, fail]],
    { ...raised, draft: 'Green' },
  ],
  'a whole answer, then the model raises': [[[says('Green'), fail]], raised],
  'a tool raises': [[[calls({ name: 'lose', args: {} })]], raised],
  'the model raises behind a tool': [[[calls({ name: 'buy', args: { n: 1 } })], [fail]], raised],
  'an error code without content': [
    [[{ errorCode: 'SAFETY' }]],
    { status: 'failed', cause: { code: 'SAFETY', message: 'SAFETY' } },
  ],
  'an error code with a text': [
    [[{ ...says('Gre'), errorCode: 'MAX_TOKENS' }]],
    { status: undefined },
  ],
  'STOP with a thought': [
    [[{ content: thought('Hm.'), finishReason: FinishReason.STOP }]],
    { status: 'failed', cause: NO_CONTENT },
  ],
  // Nothing is stored.
  'STOP without content': [[[{ finishReason: FinishReason.STOP }]], { status: 'unanswered' }],
  'a tool that does not exist': [
    [[calls({ name: 'find', args: {} })], [says('None')]],
    { status: undefined },
  ],
  'the first of a sequence raises': [
    [[fail]],
    { status: 'failed', elsewhere: 'unanswered' },
    'sequence',
  ],
  'the second of a sequence raises': [
    [[says('Green')], [fail]],
    { status: 'failed', elsewhere: 'answered' },
    'sequence',
  ],
};

function assertShown({ run }: LiveSessionSnapshot, { status, cause }: Expected): void {
  assert.equal(run?.status, status);
  if (status !== 'failed') return assert.equal(run?.error, undefined);
  assert.ok(isSessionError(run?.error, 'run_failed'));
  if (cause !== undefined) assert.deepEqual(run.error.cause, cause);
  else assert.match((run.error.cause as Error).message, /RuntimeError: no tea left/);
}

describe('A page over adk api_server', { timeout: 180_000 }, () => {
  let server: ApiServer;
  const pages: Page[] = [];
  before(async () => {
    server = await startApiServer((await sqliteFiles()()).python);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  after(() => server.end());

  const open = (key: Page['key'], local?: MemoryLocalStore): Page => {
    const page = new Page(server.url, key, local && { local });
    pages.push(page);
    return page;
  };

  /** Opens a page that has not asked, and waits until it knows of runs. */
  const openLater = async (key: Page['key'], local?: MemoryLocalStore): Promise<Page> => {
    const page = open(key, local);
    await page.until(({ status }) => status === 'ready');
    await page.chat.cancel('another message');
    return page;
  };

  for (const local of [undefined, new MemoryLocalStore()]) {
    const over = local === undefined ? '' : ', with a cache';
    for (const [what, [replies, expected, app]] of Object.entries(CASES)) {
      it(`shows ${expected.status ?? 'the answer'} after: ${what}${over}`, async () => {
        const asking = open(newKey(app), local);
        await asking.ask(replies);
        await asking.settled();
        // What is stored is no draft any more.
        const drafts = expected.draft ?? '';
        const shown = await asking.until((now) => now.drafts.map(lineOf).join() === drafts);
        assertShown(shown, expected);
        assert.equal(asking.runs, 1);
        const reloaded = await openLater(asking.key, local);
        const other = await openLater(asking.key);
        const { elsewhere } = expected;
        const status = elsewhere === 'answered' ? undefined : elsewhere;
        for (const { snapshot } of [reloaded, other]) {
          assertShown(snapshot, elsewhere === undefined ? expected : { status });
          assert.deepEqual(snapshot.events.map(lineOf), shown.events.map(lineOf));
        }
      });
    }
  }
});
