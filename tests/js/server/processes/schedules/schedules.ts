// Server processes over one database, behind a proxy that sends each request to the next one: random schedules of two pages,
// of which one has a cache. `oracle.ts` has what must hold afterwards.
//
//   SEED=7 npm test -- FILE -t TITLE             the schedule of one seed
//   SEED=7 COUNT=50 npm test -- FILE -t TITLE    50 seeds from 7 on
//   SCHEDULES=10 npm test -- FILE                ten times as many

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import type { CompositeSessionKey, Event, Session } from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { storedStatus } from '../../../../../js/service/runs/agent/run_status.js';
import { textsOf } from '../../../ui/live/runs/agents.js';
import { APP } from '../../fixture.js';
import { RunLog } from '../servers/server_process.js';
import { Cluster } from './cluster.js';
import { problemsOf } from './oracle.js';
import { Page } from './page.js';
import { type Plan, planOf } from './plan.js';

/** Milliseconds of quiet within which both pages show what is stored. */
const QUIET_MS = 10_000;

export interface Setup {
  readonly title: string;
  /** The number of server processes. */
  readonly size: number;
  /** Returns the URL of an empty database. */
  readonly urlOf: (log: RunLog) => string;
  /** Returns the URL of the server of the channel. Absent: there is none. */
  readonly channelOf?: () => string;
}

/** Limits of runs with which a killed one is over soon that no other process can tell to be over. */
const WITHOUT_CHANNEL = { maxRunMs: 5000, marginMs: 1000 };
const WITH_CHANNEL = { maxRunMs: 30_000, marginMs: 1000 };

/** The prefixes of tables that were given out. */
let prefixes = 0;

const { SEED, COUNT = '1', SCHEDULES = '1' } = process.env;

/** The first seed of the rest. Those of the gate are below 200,000. */
export const REST_SEED = Number(process.env.REST_SEED ?? 200_000);

/**
 * @param first the first seed
 * @param count how many
 * @param lanes how many schedules run at the same time, each with processes and tables of its own
 */
export function keepsSchedules(
  setup: Setup,
  {
    first,
    count,
    lanes,
  }: { readonly first: number; readonly count: number; readonly lanes: number },
): void {
  const { title, size, urlOf, channelOf } = setup;
  const [from, length] =
    SEED === undefined ? [first, count * Number(SCHEDULES)] : [Number(SEED), Number(COUNT)];
  describe(`${size} servers over ${title} and two pages`, { concurrency: lanes }, () => {
    const all: Lane[] = [];
    const free: Lane[] = [];
    const openLane = async (): Promise<Lane> => {
      const tablePrefix = `lane${(prefixes += 1)}_`;
      const log = new RunLog();
      const cluster = await Cluster.start({
        size,
        url: urlOf(log),
        log: log.path,
        tablePrefix,
        channel: channelOf?.(),
        processes: 'many',
        ...(channelOf === undefined ? WITHOUT_CHANNEL : WITH_CHANNEL),
      });
      const lane = { log, cluster };
      all.push(lane);
      return lane;
    };
    after(async () => {
      for (const { cluster, log } of all) {
        await cluster[Symbol.asyncDispose]();
        log.remove();
      }
    });

    for (let seed = from; seed < from + length; seed += 1) {
      it(`keep the promises of runs with the seed ${seed}`, async () => {
        const lane = free.pop() ?? (await openLane());
        try {
          await runSchedule(seed, lane, setup);
        } finally {
          await lane.cluster.repaired();
          free.push(lane);
        }
      });
    }
  });
}

/** Processes over tables of their own. */
interface Lane {
  readonly log: RunLog;
  readonly cluster: Cluster;
}

async function runSchedule(seed: number, lane: Lane, { size, channelOf }: Setup): Promise<void> {
  const hasChannel = channelOf !== undefined;
  const { cluster, log } = lane;
  const plan = planOf(seed, hasChannel);
  const key = { appName: APP, userId: `u${seed}`, sessionId: 's' };
  await using observer = new RemoteSessionService({
    url: 'http://127.0.0.1',
    fetch: cluster.fetch,
  });
  await observer.createSession(key);
  const pages = [false, true].map((isCached) => new Page(cluster, key, isCached));
  try {
    for (const [at, step] of plan.steps.entries()) {
      if (step.kind === 'fault') cluster.fault(step.fault, step.place);
      else pages[step.page]!.act(step, `${seed} ${at}`);
      await pause(step.pauseMs);
    }
    await cluster.repaired();
    // A start that no living process has ever heard is over by its age alone, as all are without a channel.
    const kills = faultsOf(plan).filter((what) => what === 'kill').length;
    const isHeard = hasChannel && kills < size;
    const { maxRunMs, marginMs } = hasChannel ? WITH_CHANNEL : WITHOUT_CHANNEL;
    const quietMs = isHeard ? QUIET_MS : QUIET_MS + maxRunMs + marginMs;
    const unsettled = await settle(
      pages,
      observer,
      key,
      () => cluster.endSlow(`${seed} `),
      quietMs,
    );
    for (const page of pages) page.requireSound();
    const events = (await observer.getSession(key))?.events;
    const problems = problemsOf({
      events,
      pages,
      modelCalls: callsOf(seed, log),
      hasChannel,
      wasKilled: faultsOf(plan).includes('kill'),
      wasCut: faultsOf(plan).includes('cut'),
    });
    problems.push(...unsettled);
    assert.equal(problems.length, 0, [...problems, ...traceOf(plan, pages, events)].join('\n'));
  } finally {
    await Promise.all(pages.map((page) => page.close()));
  }
}

/** The calls of a model in the runs of a schedule. A later schedule may begin before they end. */
function callsOf(seed: number, { modelCalls }: RunLog) {
  const own = modelCalls.filter((call) => JSON.stringify(call).includes(` ${seed} `));
  const invocations = new Set(own.map(([invocationId]) => invocationId));
  return modelCalls.filter(([invocationId]) => invocations.has(invocationId));
}

const faultsOf = ({ steps }: Plan) =>
  steps.flatMap((step) => (step.kind === 'fault' ? [step.fault.what] : []));

/**
 * Waits until both pages show what is stored, and their calls have settled. Returns what is wrong when nothing was stored and
 * no call has settled for so long.
 */
async function settle(
  pages: readonly Page[],
  observer: RemoteSessionService,
  key: CompositeSessionKey,
  endSlow: () => void,
  quietMs: number,
): Promise<string[]> {
  const view = { ...key, config: { view: 'transcript' } } as const;
  let before: unknown;
  let quietFrom = performance.now();
  for (;;) {
    endSlow();
    for (const page of pages) page.resume();
    const expected = shownOf(await observer.getSession(view));
    const shown = pages.map((page) => shownBy(page, expected.exists));
    const waiting = pages.flatMap((page) => page.waiting);
    const isSame = shown.every((each) => isDeepStrictEqual(each, expected));
    if (waiting.length === 0 && isSame) return [];
    const now = { expected, waiting };
    if (!isDeepStrictEqual(now, before)) quietFrom = performance.now();
    before = now;
    if (performance.now() - quietFrom > quietMs) {
      const what = { expected, shown, waiting };
      return [`after ${quietMs} ms of quiet: ${JSON.stringify(what, undefined, 1)}`];
    }
    await pause(100);
  }
}

/** Tells what has happened, for a failure. */
function traceOf({ steps }: Plan, pages: readonly Page[], events: readonly Event[] = []): string[] {
  return [
    ...steps.map((step) => JSON.stringify(step)),
    ...pages.flatMap((page) =>
      page.calls.map(({ message, error, ...call }) => {
        const result = error?.code ?? message?.id ?? '';
        return `${JSON.stringify(call)} ${result}`;
      }),
    ),
    ...events.map(({ id, author, invocationId, errorCode, content, actions }) =>
      JSON.stringify({ id, author, invocationId, errorCode, parts: content?.parts, actions }),
    ),
    ...pages.flatMap((page) => [...page.shown, JSON.stringify(page.chat.getSnapshot().unsent)]),
  ];
}

/** What a page has to show of a session. */
function shownOf(session: Session | undefined) {
  const { events = [], title } = session ?? {};
  return {
    exists: session !== undefined,
    ...eventsShown(events),
    run: storedStatus(events)?.status,
    title,
  };
}

/** @param isStored whether there is the session */
function shownBy({ chat }: Page, isStored: boolean) {
  const { status, events, run, title, unsent } = chat.getSnapshot();
  // A refused message is shown with its error, and so is what waits for it, until the user decides.
  const isRefused = (id: string): boolean =>
    unsent[id]?.error !== undefined || unsent[id]?.blockedBy !== undefined;
  const stored = events.filter(({ id }) => !isRefused(id));
  const isRun = run !== undefined && !isRefused(run.messageId);
  // What was refused keeps a deleted session shown, until the user discards it.
  if (!isStored && Object.keys(unsent).length > 0) return shownOf(undefined);
  const exists = status === 'ready';
  return { exists, ...eventsShown(stored), run: isRun ? run.status : undefined, title };
}

function eventsShown(events: readonly Event[]) {
  return { ids: events.map(({ id }) => id), texts: textsOf(events) };
}
