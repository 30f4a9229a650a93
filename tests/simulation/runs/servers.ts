// Two servers with an agent over one storage. A server that is killed does nothing more, as a process.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Event, InMemorySessionService } from '../../../js/index.js';
import {
  type SessionAction,
  sessionHandler,
  type SessionHandler,
} from '../../../js/server/index.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { isAbort } from '../../../js/values/model/event/waiting.js';
import { inOtherProcess } from '../../js/server/other_process.js';
import { APP } from '../cache/device.js';
import { type Answering, Network } from '../cache/network.js';
import { type Actor, type World } from '../cache/world.js';
import { Random } from '../run/random.js';
import type { Agents } from './agents.js';
import { BEGIN_MS, type Begins, type Journal, MAX_RUN_MS, nameOf } from './model.js';
import { DISTURBING, type Script } from './steps.js';

export const KEY = { appName: APP, userId: 'ada', sessionId: 's' };

type Service = InMemorySessionService | DatabaseSessionService;

/** The methods of a service that take some time. */
const METHODS = ['getSession', 'getEvents', 'sessionInfo', 'appendEvent', 'appendEvents', 'createSession', 'deleteSession'] as const; // prettier-ignore

/** Milliseconds in which what a request has begun may go on when its client has gone. */
const UNCLEAR_MS = 3000;

/** A process of a server. */
class Process implements Actor {
  readonly clockOffset = 0;
  readonly frozenUntil = 0;
  isDead = false;
  die = (): void => undefined;
  readonly death = new Promise<undefined>((resolve) => (this.die = () => resolve(undefined)));
  handler!: SessionHandler;

  constructor(readonly service: Service) {}
}

/** A request under way that may write. */
interface Writing {
  /** Whether no other one was under way meanwhile. */
  isAlone: boolean;
}

export class Servers {
  readonly all: readonly Server[];
  /** Until when an action is refused. */
  readonly refusedUntil = new Map<SessionAction, number>();
  readonly writing = new Set<Writing>();
  /** Until when nobody knows which request has caused a change. */
  unclearUntil = 0;
  readonly #authors = new Map<string, string | undefined>();
  readonly #folder: string | undefined;
  /** Reads the storage beside the servers. */
  readonly #reader: Service;
  readonly #getSession: Service['getSession'];
  readonly #services: readonly Service[];
  /** The number of processes that have begun. */
  #starts = 0;
  /** The services of killed processes, whose calls may never end. */
  readonly #abandoned = new Set<Service>();
  readonly #latency: Random;

  constructor(
    readonly script: Script,
    readonly world: World,
    readonly agents: Agents,
    readonly begins: Begins,
    readonly journal: Journal,
  ) {
    const { isSqlite, seed, steps } = script;
    this.#latency = new Random(seed, 'latency');
    const starts = 2 + steps.filter(({ do: kind }) => kind === 'kill server').length * 2;
    const clock = (): number => Date.now();
    this.#folder = isSqlite ? mkdtempSync(join(tmpdir(), 'runs-')) : undefined;
    const open = (): Service =>
      this.#folder === undefined
        ? new InMemorySessionService({ clock })
        : new DatabaseSessionService(`sqlite:${join(this.#folder, 'runs.sqlite')}`, { clock });
    this.#reader = open();
    this.#getSession = this.#reader.getSession.bind(this.#reader);
    this.#services = isSqlite ? Array.from({ length: starts }, open) : [this.#reader];
    this.all = [new Server(this), new Server(this)];
  }

  /** Whether no step disturbs the network, the servers or the rights. */
  get isCalm(): boolean {
    const { steps } = this.script;
    return steps.every(({ do: kind }) => !DISTURBING.includes(kind));
  }

  /** A database is opened in real time. */
  async open(): Promise<void> {
    for (const service of new Set([this.#reader, ...this.#services]))
      await service.getAppState(KEY);
    for (const service of this.#services) this.#slow(service);
  }

  /** The service of a new process. */
  takeService(): Service {
    return this.#services[this.script.isSqlite ? this.#starts++ : 0]!;
  }

  /** All stored events, those that were undone too. */
  async events(): Promise<Event[] | undefined> {
    return (await this.#getSession(KEY))?.events;
  }

  async transcript(): Promise<Event[] | undefined> {
    return (await this.#getSession({ ...KEY, config: { view: 'transcript' } }))?.events;
  }

  /** Notes that the process of a service was killed. */
  abandon(service: Service): void {
    this.#abandoned.add(service);
  }

  async close(): Promise<void> {
    const abandoned = new Set(this.#abandoned);
    for (const server of this.all) server.kill();
    for (const service of new Set([this.#reader, ...this.#services])) {
      await service.close(abandoned.has(service) ? { timeoutMs: 0 } : {});
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true });
  }

  /** Calls of a process take some time, and never end if it is killed meanwhile. */
  #slow(service: Service): void {
    const pause = (process: Actor): Promise<void> =>
      process instanceof Process ? this.world.pause(this.#latency.below(4)) : Promise.resolve();
    for (const name of METHODS) {
      const call = (service[name] as (request: unknown) => Promise<unknown>).bind(service);
      const slow = async (request: { event?: Event; events?: Event[] }): Promise<unknown> => {
        const process = this.world.actor;
        await pause(process);
        const result = await call(request);
        const appended = [request.event ?? [], request.events ?? []].flat();
        for (const { id } of appended) {
          if (!this.journal.writers.has(id)) this.journal.writers.set(id, process);
        }
        if (name.startsWith('append')) this.world.note(`  stored: ${appended.map(nameOf).join()}`);
        await pause(process);
        return result;
      };
      Object.assign(service, { [name]: slow });
    }
  }

  /** @returns an event that has another author now */
  requireAuthors(events: readonly Event[]): void {
    for (const event of events) {
      const { id, author } = event;
      const before = this.#authors.get(id);
      if (!this.#authors.has(id)) this.#authors.set(id, author);
      else if (before !== author)
        this.world.fail(`an event of ${before} has become ${nameOf(event)}`);
    }
  }
}

export class Server implements Answering {
  readonly network: Network;
  readonly #servers: Servers;
  #process: Process | undefined;

  constructor(servers: Servers) {
    this.#servers = servers;
    this.network = new Network(servers.world, this, () => undefined);
  }

  get isRunning(): boolean {
    return this.#process?.isDead === false;
  }

  get actor(): Actor | undefined {
    return this.#process;
  }

  /** Starts a process, if none runs. */
  start(): void {
    if (this.isRunning) return;
    const { world, agents, refusedUntil, script } = this.#servers;
    const service = this.#servers.takeService();
    const process = (this.#process = new Process(service));
    world.actor = process;
    process.handler = sessionHandler(inOtherProcess(service), {
      authorize: (_, { action }) => (refusedUntil.get(action) ?? 0) <= world.now,
      run: script.isRunner ? agents.runner(service) : agents.run,
      maxRunMs: MAX_RUN_MS,
      onError: (error) => world.note(`  onError: ${String(error)}`),
    });
  }

  kill(): void {
    const process = this.#process;
    if (process === undefined) return;
    process.isDead = true;
    process.die();
    this.#servers.abandon(process.service);
  }

  async handle(request: Request, body: string): Promise<Response | undefined> {
    const process = this.#process;
    if (process === undefined || process.isDead) return undefined;
    const { world, writing, journal } = this.#servers;
    world.actor = process;
    this.#note(request, body);
    const handling = (): Promise<Response | undefined> =>
      Promise.race([process.handler(request), process.death]);
    if (request.method === 'GET') return handling();
    const own: Writing = { isAlone: writing.size === 0 };
    for (const other of writing) other.isAlone = false;
    writing.add(own);
    const before = (await this.#servers.events()) ?? [];
    const running = this.#servers.begins.running();
    const response = await handling();
    writing.delete(own);
    if (response === undefined) {
      this.#servers.unclearUntil = world.now + UNCLEAR_MS;
      return undefined;
    }
    const after = (await this.#servers.events()) ?? [];
    this.#servers.requireAuthors(after);
    const { status } = response;
    // What it has begun may go on.
    const isUnclear = request.signal.aborted || status >= 500;
    if (isUnclear) this.#servers.unclearUntil = world.now + UNCLEAR_MS;
    if (request.method === 'DELETE' && /\/sessions\/s(\?|$)/.test(request.url) && status < 300) journal.deletions.push(world.now); // prettier-ignore
    if (status >= 400 && own.isAlone && world.now >= this.#servers.unclearUntil) {
      const what = `${request.method} ${request.url} with status ${status}`;
      this.#requireUnchanged(what, before, after, running);
    }
    return response;
  }

  /** Notes the ids in a request: each request for a message may begin it, and each marker is of this process. */
  #note(request: Request, body: string): void {
    const { journal, begins } = this.#servers;
    if (!/events|rewind$/.test(request.url)) return;
    try {
      const { events = [], message, marker, run } = JSON.parse(body) as Record<string, { id: string } & { id: string }[]>; // prettier-ignore
      if (run)
        for (const { id } of [...events, ...(message ? [message] : [])]) begins.noteRequest(id);
      if (marker && !journal.writers.has(marker.id)) journal.writers.set(marker.id, this.#process!);
    } catch {
      // The body was cut.
    }
  }

  /** A refused request has stored nothing, and has cancelled no run. Runs go on meanwhile. */
  #requireUnchanged(
    what: string,
    before: readonly Event[],
    after: readonly Event[],
    running: ReturnType<Begins['running']>,
  ): void {
    const { world, begins } = this.#servers;
    const ids = new Set(before.map(({ id }) => id));
    const added = after.filter(({ id }) => !ids.has(id));
    const foreign = added.find((event) => event.author === 'user' || isAbort(event) || event.interrupted === true); // prettier-ignore
    // The time of a run may end meanwhile.
    const isOver = begins.all.some(({ at, abortedAt }) => abortedAt - at >= MAX_RUN_MS - BEGIN_MS && world.now - abortedAt < BEGIN_MS); // prettier-ignore
    if (foreign !== undefined && !isOver) world.fail(`${what} has stored ${nameOf(foreign)}`);
    if (after.length - added.length < before.length) world.fail(`${what} has removed events`);
    const ended = running.find(({ signal, at }) => signal!.aborted && world.now - at < MAX_RUN_MS - BEGIN_MS); // prettier-ignore
    if (ended !== undefined) world.fail(`${what} has ended the run of ${nameOf(ended.message)}`);
  }
}
