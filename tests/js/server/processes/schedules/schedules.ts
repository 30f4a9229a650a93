// Two server processes over one database, behind a proxy that sends each request to the next one: random schedules of two
// pages. No message is lost, none is answered twice, and both pages show at last what is stored.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { type Event, isSessionError, type SessionService } from '../../../../../js/index.js';
import { type LiveSession, liveSession } from '../../../../../js/ui/live/index.js';
import { Random } from '../../../../simulation/run/random.js';
import { asks, textsOf } from '../../../ui/live/runs/agents.js';
import { createSession, eventsOf, keyOf } from '../servers/client.js';
import { RunLog, type ServerProcess, startAgentServer } from '../servers/server_process.js';

/** Milliseconds of quiet within which both pages show what is stored. */
const QUIET_MS = 10_000;

/** Sends each request to the next server. */
function proxyTo(servers: readonly ServerProcess[]) {
  let next = 0;
  return (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { port } = servers[(next += 1) % servers.length]!;
    const url = new URL(input instanceof Request ? input.url : input);
    url.port = String(port);
    return fetch(url, init);
  };
}

interface Page {
  readonly chat: LiveSession;
  readonly service: SessionService;
  /** Whether `ask` resolves once the message is in an outbox. A cancel may then give it up. */
  readonly isCached: boolean;
  close(): Promise<void>;
}

function openPage(servers: readonly ServerProcess[], sessionId: string, isCached: boolean): Page {
  const remote = new RemoteSessionService({ url: servers[0]!.origin, fetch: proxyTo(servers) });
  const local = new MemoryLocalStore();
  const service = isCached ? new CachedSessionService({ owner: 'ada', remote, local }) : remote;
  const chat = liveSession(service, keyOf(sessionId));
  const stop = chat.subscribe(() => undefined);
  const close = async (): Promise<void> => {
    stop();
    await service.close();
    await remote.close();
  };
  return { chat, service, isCached, close };
}

/** What the pages have asked. */
interface Journal {
  /** The texts of the messages that were acknowledged, by id. */
  readonly asked: Map<string, { readonly text: string; readonly isCached: boolean }>;
  readonly calls: Promise<unknown>[];
  /** Each may ask a model a message again. */
  regenerations: number;
  hasCancelled: boolean;
}

const STEPS = [
  'ask',
  'ask',
  'ask',
  'look',
  'slow',
  'cancel',
  'edit',
  'regenerate',
  'wait',
] as const;

/** Does one step in a page. What it refuses is no failure: another page may have changed the session meanwhile. */
function act(
  step: (typeof STEPS)[number],
  { chat, isCached }: Page,
  random: Random,
  text: string,
  journal: Journal,
): void {
  const { asked, calls } = journal;
  const messages = chat.getSnapshot().events.filter(({ author }) => author === 'user');
  const some = messages[random.below(messages.length)];
  const noteAsked = ({ id, content }: Event): void =>
    void asked.set(id, { text: content?.parts?.[0]?.text ?? '', isCached });
  const go = (call: Promise<unknown>): void =>
    void calls.push(
      call.catch((error: unknown) => assert.ok(isSessionError(error), String(error))),
    );
  switch (step) {
    case 'ask':
    case 'look':
    case 'slow':
      return go(chat.ask(asks(`${step} ${text}`)).then(noteAsked));
    case 'cancel':
      journal.hasCancelled = true;
      return go(chat.cancel());
    case 'edit':
      if (some !== undefined) go(chat.edit(some.id, asks(`edit ${text}`)));
      return;
    case 'regenerate':
      if (some === undefined) return;
      journal.regenerations += 1;
      return go(chat.regenerate(some.id));
    case 'wait':
  }
}

/**
 * @param urlOf makes the URL of an empty database
 * @param seeds the first seed, and how many
 */
export function keepsSchedules(
  title: string,
  urlOf: (log: RunLog) => string | Promise<string>,
  [first, count]: readonly [first: number, count: number],
): void {
  describe(`Two servers over ${title} behind a proxy, and two pages`, () => {
    const log = new RunLog();
    let servers: ServerProcess[] = [];
    before(async () => {
      const url = await urlOf(log);
      const options = { url, log: log.path, processes: 'many', maxRunMs: 20_000 } as const;
      servers = await Promise.all([1, 2].map(() => startAgentServer(options)));
    });
    after(async () => {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      log.remove();
    });

    for (let seed = first; seed < first + count; seed += 1) {
      it(`keep the promises of runs with the seed ${seed}`, async () => {
        const random = new Random(seed);
        const sessionId = sessionOf(seed);
        const [{ origin }] = servers as [ServerProcess];
        await createSession(origin, sessionId);
        const pages = [false, true].map((isCached) => openPage(servers, sessionId, isCached));
        try {
          const journal: Journal = {
            asked: new Map(),
            calls: [],
            regenerations: 0,
            hasCancelled: false,
          };
          for (let at = 0; at < 8; at += 1) {
            act(random.pick(STEPS), random.pick(pages), random, `${seed} ${at}`, journal);
            await pause(random.below(250));
          }
          await settle(servers, seed, pages, journal);
          const events = await eventsOf(origin, sessionId);
          for (const [id, { text, isCached }] of journal.asked) {
            const count = events.filter((event) => event.id === id).length;
            // A cancel gives up what waits in an outbox, and what a server has refused is shown.
            const isRefused = pages.some(({ chat }) => id in chat.getSnapshot().unsent);
            const mayLack = isCached && (journal.hasCancelled || isRefused);
            assert.ok(count === 1 || (mayLack && count === 0), `${text}: stored ${count} times`);
            const runs = log.runs(text);
            assert.ok(runs <= 1 + journal.regenerations, `${text}: ran ${runs} times`);
          }
        } finally {
          await Promise.all(pages.map((page) => page.close()));
        }
      });
    }
  });
}

/** Ends slow answers, until all calls have settled and both pages show what is stored. */
async function settle(
  servers: readonly ServerProcess[],
  seed: number,
  pages: readonly Page[],
  { calls }: Journal,
): Promise<void> {
  for (const { child } of servers) child.send(`slow ${seed} `);
  const sessionId = sessionOf(seed);
  let hasSettled = false;
  void Promise.all(calls).then(() => (hasSettled = true));
  const [{ service }] = pages as [Page, Page];
  let difference = '';
  for (const end = performance.now() + QUIET_MS; performance.now() < end; await pause(50)) {
    const config = { view: 'transcript' } as const;
    const stored = (await service.getSession({ ...keyOf(sessionId), config }))!.events;
    const shown = pages.map(({ chat }) => chat.getSnapshot());
    // A cancelled run pauses the queue of its page.
    for (const [at, { run, unsent }] of shown.entries()) {
      const [waiting] = run?.isPaused === true ? Object.keys(unsent) : [];
      if (waiting !== undefined) void pages[at]!.chat.retry(waiting).catch(() => undefined);
    }
    const isSame = shown.every(({ events }) => idsOf(events) === idsOf(stored));
    const isQuiet = shown.every(({ run }) => run?.status !== 'running' && run?.status !== 'queued');
    if (hasSettled && isSame && isQuiet) return;
    const texts = [stored, ...shown.map(({ events }) => events)].map(textsOf);
    difference = JSON.stringify([hasSettled, texts, shown.map(({ run }) => run)]);
  }
  throw new Error(`the pages do not converge: ${difference}`);
}

const sessionOf = (seed: number): string => `seed ${seed}`;
const idsOf = (events: readonly Event[]): string => events.map(({ id }) => id).join();
