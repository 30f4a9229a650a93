// Plays a script: tabs, devices, network and server do what its steps say.

import { inspect } from 'node:util';
import { isOutage } from '../../../js/stores/cache/records/failures.js';
import { isSessionError, type Session } from '../../../js/index.js';
import { APP, Device, type Handle, Tab } from './device.js';
import { Journal } from './journal.js';
import { Network } from './network.js';
import { OWNERS, Server } from './server.js';
import { DISTURBING, refusesAny, type Script, type Step } from './steps.js';
import { OUTSIDE, World } from './world.js';

/** Codes of calls that did not reach the remote. */
const OUTAGES = ['connection_lost', 'remote', 'storage_unavailable'];

/** Codes of calls that the remote has refused, with `write: 'through'`. */
const REFUSALS = ['invalid_argument', 'already_exists', 'not_found', 'stale_session'];

/** Codes with which a call may fail by what others have done. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  append: ['not_found'],
  edit: ['not_found'],
  'open and append': [...OUTAGES, 'not_found'],
  create: [...OUTAGES, 'already_exists'],
  describe: [...OUTAGES, 'not_found'],
  'undo rewind': [...OUTAGES, 'stale_session'],
  // A turn may have no message of a user.
  'edit turn': [...OUTAGES, 'invalid_argument'],
  regenerate: [...OUTAGES, 'invalid_argument'],
  page: [...OUTAGES, 'not_found'],
  'session state': [...OUTAGES, 'not_found'],
  settle: ['not_found', 'stale_session'],
};

/** Milliseconds in which a tab that is ordered to forget has forgotten. */
const FORGET_MS = 2000;

/** The end of a call, which checks its result. */
export type Check = (() => void) | undefined;

/** Calls the service of a tab as a step says. */
type Call = (play: Play, tab: Tab, step: Step) => Promise<Check>;

/** Checks the end of a schedule. */
type Settle = (play: Play) => Promise<void>;

export class Play {
  readonly world = new World();
  readonly journal = new Journal();
  readonly devices: readonly Device[];
  /** The open tabs, by their number. */
  readonly tabs = new Map<number, Tab>();
  readonly server: Server;
  readonly network: Network;
  readonly #script: Script;
  readonly #call: Call;
  /** The calls that have not settled, with their tabs. */
  readonly #pending = new Map<string, Tab>();
  /** The devices and owners that were forgotten. */
  readonly #forgotten = new Set<string>();

  private constructor(script: Script, call: Call) {
    const { world, journal } = this;
    this.#script = script;
    const { isSqlite, isBounded, histories } = script;
    const hasTitles = histories !== undefined;
    this.devices = [0, 1].map((number) => new Device(number, world, isBounded, hasTitles));
    journal.refusesAny = script.steps.some(refusesAny);
    this.server = new Server(isSqlite, histories !== undefined, world, journal);
    this.network = new Network(world, this.server, (tab) => {
      this.forget(tab);
      world.at(FORGET_MS, tab, () => this.forget(tab));
    });
    this.#call = call;
  }

  /**
   * Plays a script.
   *
   * @returns what is wrong, and what has happened
   */
  static async run(script: Script, call: Call, settle: Settle): Promise<World> {
    const play = new Play(script, call);
    const { world, server } = play;
    const onError = (error: unknown): void => world.fail(`unhandled: ${inspect(error)}`);
    process.on('unhandledRejection', onError).on('uncaughtException', onError);
    await server.open();
    world.install();
    try {
      for (const step of script.steps) {
        world.note(`step ${JSON.stringify(step)}`);
        await play.#play(step);
        await world.pass(step.wait);
        if (world.problem !== undefined) break;
      }
      if (world.problem === undefined) await settle(play);
    } catch (error) {
      world.fail(inspect(error));
    } finally {
      for (const tab of play.tabs.values()) tab.crash();
      world.uninstall();
      await server.close().catch((error: unknown) => world.fail(inspect(error)));
      process.off('unhandledRejection', onError).off('uncaughtException', onError);
    }
    return world;
  }

  /** Whether nothing has disturbed the feeds. */
  get isCalm(): boolean {
    return this.#script.steps.every(({ do: kind }) => !DISTURBING.includes(kind));
  }

  /** The calls that have not settled. */
  get pending(): string[] {
    for (const [label, tab] of this.#pending) if (tab.isDead) this.#pending.delete(label);
    return [...this.#pending.keys()];
  }

  /** The open tab of a number. Opens one in place of a crashed one. */
  async tab(number: number, owner?: string): Promise<Tab> {
    const known = this.tabs.get(number);
    if (known?.isDead === false) return known;
    const device = this.devices[(number >> 1) % 2]!;
    const tab = new Tab(
      number,
      device,
      owner ?? known?.owner ?? OWNERS[0],
      this.#script.histories !== 'http',
    );
    device.owners.add(tab.owner);
    this.tabs.set(number, tab);
    await this.world.act(tab, () => tab.open(this.network.fetchOf(tab), 'cache-first'));
    return tab;
  }

  /** Whether a tab may write to a session without creating it. */
  async hasSession({ owner, handles }: Tab, sessionId: string): Promise<boolean> {
    if (handles.some(({ name }) => name === `${owner}/${sessionId}`)) return true;
    const key = { appName: APP, userId: owner, sessionId };
    return (await this.server.service.getSession(key)) !== undefined;
  }

  /** The local data of the tab's owner are forgotten. */
  forget({ device, owner }: Tab): void {
    this.#forgotten.add(`${device.number} ${owner}`);
    this.journal.forget(device.number, owner);
    // The handles from before are to be read again.
    for (const tab of this.tabs.values()) {
      if (tab.device === device && tab.owner === owner) tab.handles.length = 0;
    }
  }

  /** Whether the tab's owner was forgotten on its device. */
  hasForgotten({ device, owner }: Tab): boolean {
    return this.#forgotten.has(`${device.number} ${owner}`);
  }

  addHandle(tab: Tab, name: string, session: Session, mayBeMissing = false): Handle {
    const oldest = this.journal.oldest.get(name);
    const isWhole = oldest === undefined || session.events[0]?.id === oldest;
    const handle = { name, session, isWhole, mayBeMissing };
    tab.handles.push(handle);
    return handle;
  }

  async #play(step: Step): Promise<void> {
    const { world, journal, server } = this;
    const device = this.devices[step.tab >> 1]!;
    switch (step.do) {
      case 'crash':
        (await this.tab(step.tab)).awaitsToCrash = step.count!;
        break;
      case 'freeze':
        if (this.tabs.has(step.tab)) this.tabs.get(step.tab)!.frozenUntil = world.now + step.ms!;
        break;
      case 'request':
      case 'order to forget':
        device.fates.push(step);
        break;
      case 'offline':
      case 'online':
        device.isOffline = step.do === 'offline';
        break;
      case 'cut feeds':
        this.network.cut(device);
        break;
      case 'clock':
        device.clockOffset = step.ms!;
        break;
      case 'slow store':
        device.localMs = step.ms!;
        break;
      case 'quota':
        device.quotaFaults = step.count!;
        device.isLossy = true;
        break;
      case 'wipe':
        // Those that are being closed too.
        for (const tab of [...this.tabs.values(), ...this.#pending.values()]) {
          if (tab.device === device) tab.crash();
        }
        device.wipe();
        journal.forget(device.number);
        break;
      case 'restart':
        await world.act(OUTSIDE, () => server.restart());
        break;
      case 'agent runs':
        server.runningUntil.set(step.s, world.now + step.ms!);
        break;
      case 'agent appends':
      case 'agent answers':
      case 'agent deletes': {
        const run = (): Promise<void> => {
          if (step.do === 'agent deletes') return server.delete(step.s);
          return step.do === 'agent appends'
            ? server.append(step.s, step.n)
            : server.answer(step.s, step.n, step.keys!);
        };
        await world.act(OUTSIDE, () => {
          run().catch((error: unknown) => world.fail(inspect(error)));
        });
        break;
      }
      case 'reopen':
      case 'switch owner': {
        const tab = await this.tab(step.tab);
        const other = OWNERS.find((name) => name !== tab.owner);
        await world.act(tab, () => this.#start(tab, step, () => tab.close().then(() => undefined)));
        this.tabs.delete(step.tab);
        await this.tab(step.tab, step.do === 'reopen' ? tab.owner : other);
        break;
      }
      default: {
        const tab = await this.tab(step.tab);
        await world.act(tab, () => this.#start(tab, step, () => this.#call(this, tab, step)));
      }
    }
  }

  /** Starts a call, and judges how it ends. */
  #start(tab: Tab, step: Step, run: () => Promise<Check>): void {
    const label = `tab ${tab.number}: ${step.do} of step ${step.n}`;
    this.#pending.set(label, tab);
    const name = `${tab.owner}/${step.s}`;
    const isAppend = step.do === 'append' || step.do === 'edit';
    const opens = isAppend && !tab.handles.some((handle) => handle.name === name);
    const isPending = (): boolean => !tab.isDead && this.#pending.delete(label);
    run().then(
      (check) => {
        if (!isPending()) return;
        this.world.note(`${label} is done`);
        check?.();
      },
      (error: unknown) => {
        if (!isPending()) return;
        this.world.note(`${label} rejects: ${String(error)}`);
        if (this.#isAllowed(tab, opens ? 'open and append' : step.do, error, name)) return;
        this.world.fail(`${label} rejects: ${inspect(error)}`);
      },
    );
  }

  #isAllowed(tab: Tab, kind: string, error: unknown, name: string): boolean {
    if (!isSessionError(error)) return false;
    const { code } = error;
    if (code === 'quota_exceeded') return tab.device.isLossy;
    if (code === 'aborted') return this.hasForgotten(tab);
    if (code === 'closed') return tab.isClosed;
    // A cache waits for the end of a run.
    if (code === 'agent_running') return tab.cache === undefined;
    if (kind === 'page' && code === 'invalid_argument') {
      return error.key === 'before' && this.#mayEndCursor(tab, name);
    }
    // It was read while something waited for it that was then taken back.
    if (code === 'not_found' && this.journal.missing.has(name)) return true;
    // The remote makes a fork, and lacks what it has refused.
    if (kind === 'fork' && code === 'not_found') return this.journal.mayShowRefused(name);
    // A handle whose copy was evicted is fetched again, and another server may have refused that.
    if (kind === 'append' && tab.device.isLossy && code === 'remote' && !isOutage(error))
      return true;
    if (tab.isThrough && [...OUTAGES, ...REFUSALS].includes(code)) return true;
    return (ALLOWED[kind] ?? OUTAGES).includes(code);
  }

  /** Whether a cursor may have lost its session or its event since the page that gave it. */
  #mayEndCursor(tab: Tab, name: string): boolean {
    if (this.hasForgotten(tab) || tab.device.isLossy) return true;
    // Somebody has deleted the session, or the tab had an unsent event that was then taken back or dropped.
    const { journal } = this;
    return journal.explainsRefusal(name, undefined, 'not_found') || journal.mayShowRefused(name);
  }
}
