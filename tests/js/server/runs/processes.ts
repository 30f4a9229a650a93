// Processes over one storage with a channel: handlers over services of several storage objects, which share the rows, and
// nothing else.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock } from 'node:test';

import {
  type Event,
  openSessionService,
  type ProcessChannel,
  type SessionService,
} from '../../../../js/index.js';
import {
  type SessionHandler,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../../js/server/index.js';
import type { StateOwner } from '../../../../js/core/storage/scopes.js';
import { RunReports } from '../../../../js/stores/remote/run_reports.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { Hub } from '../../core/watch/hub.js';
import { wholeStorage } from '../../service/whole_storage.js';
import { says, textsOf } from '../../ui/live/runs/agents.js';
import { answerOf, type FeedEvent, feedEvents, KEY, requestTo, SESSION } from '../fixture.js';
import { asked } from './fixture.js';

let now = 0;
const ends: (() => Promise<unknown>)[] = [];

/** Lets time pass in the tests of a file only by `pass`, and ends their processes. */
export function mockProcesses(): void {
  beforeEach(() => {
    now = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const end of ends.splice(0)) await end();
    // Only now: with the real clock a channel would wait until the time that the test has come to.
    mock.restoreAll();
  });
}

/** The milliseconds that have passed in the test. */
export const passedMs = (): number => now;

export async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 50) {
    now += 50;
    mock.timers.tick(50);
    for (let turn = 0; turn < 8; turn += 1) await new Promise(setImmediate);
  }
}

/** Lets time pass until a promise has settled. Returns its result, and how long it took. */
export async function settled<T>(promise: Promise<T>): Promise<readonly [T, number]> {
  const began = now;
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled && now - began < 60_000) await pass(50);
  return [await promise, now - began];
}

/** An agent that streams what the test says, until the test ends it with `undefined`. */
function streaming() {
  const texts: (string | undefined)[] = [];
  const seen: string[] = [];
  const stopped: string[] = [];
  let wake = (): void => undefined;
  const say = (text: string | undefined): void => {
    texts.push(text);
    wake();
  };
  const run: RunAgent = async function* ({ message, signal }) {
    seen.push(message.id);
    signal.addEventListener('abort', () => stopped.push(message.id));
    for (let all = ''; ;) {
      while (texts.length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve());
        });
      }
      if (signal.aborted) return;
      const text = texts.shift();
      if (text === undefined) {
        yield { author: 'guide', content: says(all) };
        return;
      }
      all += text;
      yield { author: 'guide', partial: true, content: says(text) };
    }
  };
  return { run, say, seen, stopped };
}

/** A process: a handler with its agent, and requests to it. */
export class Process {
  readonly agent = streaming();
  readonly handler: SessionHandler;

  constructor(
    readonly service: SessionService,
    options: Partial<SessionHandlerOptions> = {},
  ) {
    this.handler = sessionHandler(service, {
      authorize: () => ({ maySeeCredentials: true }),
      run: this.agent.run,
      ...options,
    });
    ends.push(async () => {
      // Runs end at once without a grace.
      await this.handler.close({ graceMs: 0 });
      await service.close({ timeoutMs: 0 });
    });
  }

  async ask(path: string, more: Parameters<typeof requestTo>[1] = {}) {
    const [response] = await settled(this.handler(requestTo(path, more)));
    return answerOf(response);
  }

  /** Begins a run in a new session. @returns the path of its events */
  async begin(sessionId: string): Promise<string> {
    await this.service.createSession({ ...KEY, sessionId });
    const path = `${SESSION.replace(KEY.sessionId, sessionId)}/events`;
    assert.equal((await this.ask(path, asked('m1'))).status, 200);
    return path;
  }

  /** Opens the feed of a user, and lets time pass. Returns the last report of the session, as a page knows it. */
  async feed({ appName, userId }: StateOwner = KEY, passMs = 200) {
    const reports = new RunReports();
    const data: unknown[] = [];
    const left = new AbortController();
    const request = new Request(requestTo(`/apps/${appName}/users/${userId}/changes`), {
      signal: left.signal,
    });
    const response = await this.handler(request);
    const reading = (async () => {
      for await (const event of feedEvents(response) as AsyncIterable<FeedEvent>) {
        data.push(event.data);
        reports.receive(event.data, { appName, userId });
      }
    })();
    ends.push(() => reading);
    await pass(passMs);
    const report = () => reports.of({ ...KEY, appName, userId: userId! });
    const drafts = () => textsOf(report()?.drafts.map(({ event }) => event) ?? []);
    return { report, drafts, data, end: () => left.abort() };
  }
}

export async function processes(
  count: number,
  { hub = new Hub({ echoes: true, tellsMissed: true }), drafts = true } = {},
) {
  const storage = wholeStorage();
  const channels: ProcessChannel[] = [];
  const all: Process[] = [];
  const storages = Array.from({ length: count + 1 }, () => ({ ...storage }));
  const reopen = async (number: number): Promise<Process> => {
    const open = (name: string): ProcessChannel => {
      const channel = hub.open(name);
      channels[number] = channel;
      // It hears from now on.
      queueMicrotask(() => channel.onmissed?.());
      return channel;
    };
    const channel = { open, secret: '0123456789abcdef'.repeat(2), drafts };
    return new Process(await openSessionService({ storage: storages[number]!, channel }));
  };
  for (let number = 0; number < count; number += 1) all.push(await reopen(number));
  const [a, b, c] = all as [Process, Process, Process];
  await a.service.createSession(KEY);
  const events = async (): Promise<Event[]> => (await b.service.getSession(KEY))!.events;
  /** Ends the channel of a process, as its death would. @returns a function that opens it again */
  const kill = (number: number): (() => void) => {
    const channel = channels[number]!;
    const { postMessage, onmessage } = channel;
    channel.postMessage = () => undefined;
    channel.onmessage = null;
    return () => Object.assign(channel, { postMessage, onmessage });
  };
  return { a, b, c, hub, events, kill, channels, reopen };
}
