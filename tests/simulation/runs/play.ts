// Plays a script: pages, network and servers do what its steps say. Then everything becomes quiet, and is compared.

import { inspect } from 'node:util';
import type { Event } from '../../../js/index.js';
import { rewindTargetOf } from '../../../js/values/model/event/markers.js';
import { newEventId } from '../../../js/values/model/event/create_event.js';
import { newestMessage, storedStatus } from '../../../js/service/runs/agent/run_status.js';
import { OUTSIDE, World } from '../cache/world.js';
import { Agents } from './agents.js';
import { margin } from '../../../js/server/runs/elsewhere.js';
import { Begins, Journal, MAX_RUN_MS, nameOf } from './model.js';
import { Page } from './page.js';
import { Servers } from './servers.js';
import type { Script, Step } from './steps.js';

/** Milliseconds of quiet after which each page shows what the storage has. */
const QUIET_MS = 10_000;

/** The most times that the user sends again, or gives up, what was refused. */
const MOST_ROUNDS = 40;

/** Milliseconds in which a call has ended whose request was lost. */
const MOST_CALL_MS = 4000;

/** The most calls that may wait behind a refused one. */
const MOST_PENDING = 8;

/** The most requests of a page that wait for their fates. */
const MOST_FATES = 2;

/** @returns what is wrong, and what has happened */
export async function play(script: Script): Promise<World> {
  const world = new World();
  const played = new Play(script, world);
  const onError = (error: unknown): void => world.fail(`unhandled: ${inspect(error)}`);
  process.on('unhandledRejection', onError).on('uncaughtException', onError);
  await played.servers.open();
  world.install();
  try {
    await played.run();
  } catch (error) {
    world.fail(inspect(error));
  } finally {
    for (const page of played.pages) page.tab.crash();
    world.uninstall();
    await played.servers.close().catch((error: unknown) => world.fail(inspect(error)));
    process.off('unhandledRejection', onError).off('uncaughtException', onError);
  }
  return world;
}

class Play {
  readonly journal = new Journal();
  readonly begins: Begins;
  readonly agents: Agents;
  readonly servers: Servers;
  readonly pages: readonly [Page, Page];

  constructor(
    readonly script: Script,
    readonly world: World,
  ) {
    this.begins = new Begins(world);
    this.agents = new Agents(script, this.begins, (milliseconds) => world.pause(milliseconds));
    this.servers = new Servers(script, world, this.agents, this.begins, this.journal);
    this.pages = [new Page(0, this.servers), new Page(1, this.servers)];
  }

  async run(): Promise<void> {
    const { world } = this;
    await this.#startServers();
    for (const page of this.pages) await page.open();
    await world.pass(200);
    for (const step of this.script.steps) {
      world.note(`step ${JSON.stringify(step)}`);
      await this.#play(step);
      await world.pass(step.wait);
      if (world.problem !== undefined) return;
    }
    await this.#settle();
  }

  async #startServers(): Promise<void> {
    for (const server of this.servers.all) await this.world.act(OUTSIDE, () => server.start());
  }

  async #play(step: Step): Promise<void> {
    const { world, servers } = this;
    const page = this.pages[step.page];
    switch (step.do) {
      case 'request':
        // A request is sent three times at most, and a page reads again only if it is told something.
        if (page.device.fates.length < MOST_FATES) page.device.fates.push(step);
        break;
      case 'cut feeds':
        for (const { network } of servers.all) network.cut(page.device);
        break;
      case 'offline':
        page.device.isOffline = true;
        for (const { network } of servers.all) network.cut(page.device);
        world.at(step.ms!, OUTSIDE, () => (page.device.isOffline = false));
        break;
      case 'kill server':
        servers.all[page.server]!.kill();
        for (const { device } of this.pages.filter(({ server }) => server === page.server)) {
          servers.all[page.server]!.network.cut(device);
        }
        for (const each of this.pages.filter(({ server }) => server === page.server)) {
          each.server = each.server === 0 ? 1 : 0;
        }
        break;
      case 'start servers':
        await this.#startServers();
        break;
      case 'kill page':
      case 'close page':
        await page.end(step.do === 'kill page' ? 'kill' : 'close');
        await page.open();
        break;
      case 'sign out':
      case 'forget':
        await page.leave(step.do);
        break;
      case 'refuse':
        servers.refusedUntil.set(step.action!, world.now + step.ms!);
        break;
      case 'use ids':
        await this.#useIds(page, step);
        break;
      default:
        await page.start(step);
    }
  }

  /** Sends a request whose message has the id of something else. */
  async #useIds(page: Page, { n, how, which = 0 }: Step): Promise<void> {
    const events = (await this.servers.events()) ?? [];
    const pick = (isMeant: (event: Event) => boolean): Event | undefined => {
      const found = events.filter(isMeant);
      return found[Math.floor(which * found.length)];
    };
    const isMarker = (event: Event): boolean => rewindTargetOf(event) !== undefined;
    const isMessage = (event: Event): boolean => event.author === 'user' && !isMarker(event);
    const taken = how!.endsWith('answer')
      ? pick(({ author }) => author !== 'user')
      : pick(how!.endsWith('marker') ? isMarker : isMessage);
    if (taken === undefined) return this.world.note('  nothing to do');
    const message = { id: taken.id, invocationId: `x${n}` };
    const content = { role: 'user', parts: [{ text: `m${n} takes the id of ${taken.author}` }] };
    if (how!.startsWith('message')) {
      return page.send('events', { events: [{ ...message, author: 'user', content }], run: {} });
    }
    const id = newEventId();
    const isTwice = how === 'rewind with one id twice';
    await page.send('rewind', {
      marker: { id, invocationId: `r${n}` },
      place: { turn: (pick(isMessage) ?? taken).id },
      message: { ...message, ...(isTwice && { id }), content },
      run: {},
    });
  }

  /** Heals what was broken, and waits until both pages show what the storage has. */
  async #settle(): Promise<void> {
    const { world, servers } = this;
    world.note('everything heals');
    await this.#startServers();
    servers.refusedUntil.clear();
    for (const { device } of this.pages) {
      device.isOffline = false;
      device.fates.length = 0;
    }
    await world.until(() => this.begins.isQuiet, 4 * MAX_RUN_MS);
    // So long the servers take the message of a killed one for one that runs.
    await world.pass(MAX_RUN_MS + margin.ms);
    await this.#sync();
    await this.#converge('after the steps');
    this.agents.isCalm = true;
    await this.#resume();
    const isEmpty = (await servers.events())?.length === 0;
    if (servers.isCalm && isEmpty) world.fail('a session is left whose messages were never stored');
    // Whatever has happened, the session goes on.
    for (const page of this.pages) {
      if (world.problem !== undefined) return;
      await page.start({ n: 1000 + page.number, do: 'ask', page: page.number, wait: 0 });
      await this.#converge(`after the last message of page ${page.number}`);
      await this.#resume();
    }
    // A call that was refused pauses the queue, and each further message resumes it.
    for (let n = 1; n <= MOST_PENDING; n += 1) {
      for (const page of this.pages) {
        // A request of it may have been lost.
        if (await world.until(() => page.pending.size === 0, MOST_CALL_MS)) continue;
        await page.start({ n: 1000 + 2 * n + page.number, do: 'ask', page: page.number, wait: 0 });
        await this.#converge(`after message ${n} of page ${page.number}`);
        await this.#resume();
      }
    }
    if (world.problem !== undefined) return;
    const pending = this.pages.flatMap((page) => [...page.pending, ...page.requests]);
    if (pending.length > 0) return world.fail(`these calls never end: ${pending.join()}`);
    const problem = this.journal.check(
      (await servers.events()) ?? [],
      !this.script.isSqlite,
      this.begins,
    );
    if (problem !== undefined) world.fail(problem);
  }

  /** A cache sends what waits now, and not after a pause. */
  async #sync(): Promise<void> {
    const [page] = this.pages;
    await this.world.act(page.tab, () => void page.tab.cache!.sync().catch(() => undefined));
  }

  /** The user sends again what has failed, and gives up what was refused again. */
  async #resume(): Promise<void> {
    const { world } = this;
    for (let round = 1; world.problem === undefined; round += 1) {
      const waiting = this.pages.filter((page) => Object.keys(page.snapshot.unsent).length > 0);
      if (waiting.length === 0) break;
      if (round > MOST_ROUNDS) return world.fail(`what was refused is never given up: ${inspect(waiting.map(({ snapshot }) => snapshot.unsent))}`); // prettier-ignore
      for (const page of waiting) {
        const [id] = Object.entries(page.snapshot.unsent).find(([, { error }]) => error !== undefined) ?? Object.keys(page.snapshot.unsent); // prettier-ignore
        const isAgain = round % 3 === 1 && page.snapshot.status !== 'deleted';
        world.note(`  page ${page.number}: ${isAgain ? 'retry' : 'discard'} of ${id.slice(0, 4)}`);
        if (!isAgain) await page.discard(id);
        else await page.retry(id);
      }
      await world.pass(400);
      await world.until(() => this.begins.isQuiet, 2 * MAX_RUN_MS);
      await this.#converge(`after round ${round}`);
    }
    for (const page of this.pages) await page.showAgain();
  }

  /** Waits until both pages show what the storage has, ten seconds of quiet at most. */
  async #converge(when: string): Promise<void> {
    const { world } = this;
    if (world.problem !== undefined) return;
    let different: string | undefined;
    for (let end = world.now + QUIET_MS; world.now <= end; await world.pass(200)) {
      // A message that has waited may run now.
      if (!this.begins.isQuiet) end = Math.max(end, world.now + QUIET_MS);
      different = await this.#difference();
      if (different === undefined || world.problem !== undefined) return;
    }
    const unanswered = this.pages.flatMap(({ requests }) => [...requests]);
    world.fail(
      `${when}: ${unanswered.length > 0 ? `no answer to ${unanswered.join()}` : different}`,
    );
  }

  /** @returns how a page differs from the storage */
  async #difference(): Promise<string | undefined> {
    const stored = await this.servers.transcript();
    for (const page of this.pages) {
      const { status, events, drafts, unsent } = page.snapshot;
      const name = `page ${page.number}`;
      const isGone = stored === undefined;
      const outbox = (await page.outbox()) ?? [];
      if (outbox.some(({ error }) => error === undefined)) {
        return `${name} has changes that wait for nothing: ${inspect(outbox, { depth: 4 })}`;
      }
      // What was refused is shown. It may hold up what the user has changed since, and another session may be stored.
      const holds = outbox.some(
        ({ events, error, blocked = [] }) =>
          events.length - blocked.length !== 1 ||
          error?.code === 'not_found' ||
          // A rewind that waits behind it hides what others have stored.
          events.some((event) => rewindTargetOf(event) !== undefined),
      );
      if (holds) continue;
      // A server does not tell what another program deletes.
      if (isGone && this.script.isSqlite) continue;
      if (!isGone && status !== 'ready') {
        // A session that was deleted, and made again by the other page.
        if (status === 'deleted' && this.journal.deletions.length > 0) continue;
        return `${name} has the status ${status}: ${inspect(page.snapshot.error)}`;
      }
      const shown = events.filter(({ id }) => !Object.hasOwn(unsent, id)).map(nameOf);
      const expected = (stored ?? []).filter(({ id }) => !Object.hasOwn(unsent, id)).map(nameOf);
      if (shown.join('\n') !== expected.join('\n')) {
        return `${name} shows\n  ${shown.join('\n  ')}\n, and the storage has\n  ${expected.join('\n  ')}`;
      }
      const left = drafts.filter((draft) => !this.#mayStay(draft, page, stored ?? []));
      if (left.length > 0) return `${name} has drafts: ${left.map(nameOf).join()}`;
      const problem = this.#statusProblem(page, stored ?? []);
      if (problem !== undefined) return `${name} ${problem}`;
    }
    return undefined;
  }

  /** Whether a draft is of a failed run. A page that saw it shows it until the next message. */
  #mayStay(draft: Event, { snapshot: { run } }: Page, stored: readonly Event[]): boolean {
    const newest = newestMessage(stored);
    const isFailed = run?.status === 'failed' && run.messageId === newest?.id;
    return isFailed && draft.invocationId === newest?.invocationId;
  }

  /** @returns what is wrong with the status of the run that a page shows */
  #statusProblem(
    { number, isCached, resumed, pending, snapshot: { run, unsent } }: Page,
    stored: readonly Event[],
  ): string | undefined {
    const states = Object.values(unsent);
    const waits = states.some((state) => state.error === undefined && state.blockedBy === undefined); // prettier-ignore
    const mayPause = !isCached && this.journal.mayPause(number, resumed, this.begins);
    if (waits && !mayPause) return 'has a message that waits for nothing';
    if (waits && run?.isPaused !== true) return 'has a message that waits in silence';
    // Messages that wait are shown, and not stored. One that a cache's server has refused is not the newest.
    if (states.some(({ error }) => error === undefined) || (states.length > 0 && !isCached)) return undefined; // prettier-ignore
    const expected = storedStatus(stored);
    // A message whose call is pending waits behind another one, and is not among the unsent ones.
    if (run?.status === expected?.status || (run?.isPaused === true && pending.size > 0)) return undefined; // prettier-ignore
    // The server tells how a run has ended that is left in the middle.
    const isEnd = run?.status === 'failed' || run?.status === 'cancelled';
    const isTold = isEnd && this.begins.failed.has(run.messageId);
    return isTold ? undefined : `shows a run that is ${run?.status}, and the storage says ${expected?.status}`; // prettier-ignore
  }
}
