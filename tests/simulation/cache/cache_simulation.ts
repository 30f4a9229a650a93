// Runs one seed: tabs of one or two devices write through caches, while requests fail, tabs end, and other programs
// change the remote. After all is quiet, the copies and the remote must be equal.

import type { Session } from '../../../js/index.js';
import { eventOf } from '../model/events.js';
import { sessionName } from '../model/world.js';
import type { EventSpec } from '../operation.js';
import { CrashedCalls } from '../run/crashed_calls.js';
import { Faults } from '../run/faults.js';
import { until } from '../run/pace/pace.js';
import { Random } from '../run/random.js';
import { VirtualPace } from '../run/pace/virtual_pace.js';
import { CacheWorkload, NAMES, USER } from './cache_workload.js';
import { Device, LOCAL_FAULTS, REMOTE_FAULTS, type Surroundings, type Tab } from './device.js';
import { Ledger } from './checks/ledger.js';
import { HandleProbe } from './checks/handle_probe.js';
import { Handles } from './checks/handles.js';
import { mayFail } from './failures.js';
import { OtherPrograms } from './other_programs.js';
import { markOf, Remote, UPDATE_KEY } from './remote.js';
import { type CacheOperation, describeStep, type Version } from './script.js';
import { Settlement } from './checks/settlement.js';

/** The most handles that are probed. */
const MOST_PROBED = 4;

/** The most requests and timers of a seed. A seed that needs more never becomes quiet. */
const MOST_TURNS = 20_000;

export class CacheSimulation {
  readonly trace: string[] = [];
  readonly #random: Random;
  readonly #workload: CacheWorkload;
  readonly #limit: number;
  readonly #pace: VirtualPace;
  readonly #remote: Remote;
  readonly #shared: Surroundings;
  readonly #devices: Device[];
  readonly #ledger = new Ledger();
  readonly #crashedCalls = new CrashedCalls();
  readonly #restore: () => void;
  readonly #handles = new Handles();
  /** The sessions that an acknowledged creation, or another program, has made. */
  readonly #created = new Set<string>();
  readonly #others: OtherPrograms;
  readonly #pending = new Set<string>();
  readonly #tabs: Tab[] = [];
  #problem: Error | undefined;
  #step = 0;
  #turns = 0;
  #ids = 0;
  #tabCount = 0;
  /** The number of steps that were played. */
  stepCount = 0;

  /** @param limit the most steps to play */
  constructor(seed: number, limit = Infinity) {
    this.#random = new Random(seed, 'schedule');
    this.#limit = limit;
    this.#pace = new VirtualPace(new Random(seed, 'pace'));
    this.#restore = this.#pace.install();
    this.#workload = new CacheWorkload(new Random(seed, 'workload'));
    this.#remote = new Remote();
    this.#others = new OtherPrograms(this.#remote, this.#ledger, this.#created);
    const note = (text: string): void => void this.trace.push(`  ${text}`);
    this.#shared = {
      pace: this.#pace,
      remote: this.#remote,
      remoteFaults: new Faults(new Random(seed, 'remote'), REMOTE_FAULTS, note),
      localFaults: new Faults(new Random(seed, 'local'), LOCAL_FAULTS, note),
      crashedCalls: this.#crashedCalls,
      newId: () => `id ${(this.#ids += 1)}`,
      onCrash: (tab) => this.#crash(tab),
      note,
    };
    const devices = this.#random.pick([1, 1, 2, 2]);
    this.#devices = Array.from(
      { length: devices },
      (_, number) => new Device(number, this.#shared),
    );
  }

  /** @throws Error if something is lost, doubled or in a wrong order, or never becomes quiet */
  async run(): Promise<void> {
    await this.#prepare();
    const steps = this.#random.pick([4, 8, 12, 20]);
    this.#setFaults(true);
    while (this.stepCount < Math.min(steps, this.#limit)) {
      this.#play();
      this.#requireSound();
      for (let turns = this.#random.below(12); turns > 0; turns -= 1) await this.#pace.next(0);
    }
    this.#setFaults(false);
    for (const device of this.#devices) device.isOffline = false;
    await this.#until(
      'the pending operations',
      () => this.#pending.size === 0 && !this.#tabs.some(({ isFrozen }) => isFrozen),
    );
    const settlement = new Settlement({
      remote: this.#remote,
      ledger: this.#ledger,
      wait: (what, call) => this.#wait(what, call),
    });
    await settlement.becomeQuiet(this.#tabs);
    await settlement.dropRefusals(this.#tabs);
    const probe = new HandleProbe((what, call) => this.#wait(what, call));
    for (const handle of this.#handles.newest(MOST_PROBED)) {
      if (this.#ledger.hasDeletion(handle.name)) continue;
      const spec = this.#workload.event();
      this.trace.push(
        `tab ${handle.tab.number} appends ${spec.id} through handle ${handle.number}`,
      );
      const written = this.#write(spec, handle.name, handle.tab.device.number);
      await probe.append(handle, spec);
      this.#step += 1;
      this.#acknowledge([written], handle.tab);
    }
    await settlement.becomeQuiet(this.#tabs);
    await settlement.dropRefusals(this.#tabs);
    await probe.check((id) => this.#ledger.isGivenUp(id));
    await settlement.becomeQuiet(this.#tabs);
    await settlement.compare(this.#tabs, this.#created);
    for (const { service } of this.#tabs) await this.#wait('close', service.close());
    this.#requireSound();
  }

  async end(): Promise<void> {
    this.#restore();
    await this.#crashedCalls.end();
    for (const device of this.#devices) device.end();
    this.#remote.end();
  }

  #setFaults(isOn: boolean): void {
    this.#shared.remoteFaults.isOn = isOn;
    this.#shared.localFaults.isOn = isOn;
  }

  /** Some sessions are on the remote already. */
  async #prepare(): Promise<void> {
    for (const key of this.#random.some(NAMES, 0.5)) {
      await this.#others.change({ kind: 'create', key }, this.#step);
      const events = this.#workload.history();
      await this.#others.change({ kind: 'append', key, events }, this.#step);
    }
    for (const device of this.#devices) {
      for (let tabs = 1 + this.#random.below(3); tabs > 0; tabs -= 1) this.#openTab(device);
    }
  }

  #openTab(device: Device): void {
    const tab = device.openTab(this.#tabCount);
    this.#tabCount += 1;
    this.#tabs.push(tab);
    this.trace.push(`tab ${tab.number} opens on device ${device.number}`);
  }

  #play(): void {
    this.stepCount += 1;
    this.#step += 1;
    const step = this.#workload.next({
      tabs: this.#tabs.map((tab) => ({
        number: tab.number,
        handles: this.#handles.of(tab).map(({ number, name }) => {
          return { number, ids: this.#ledger.idsOf(name, tab.device.number) };
        }),
      })),
      devices: this.#devices,
    });
    this.trace.push(`${this.#step} ${describeStep(step)}`);
    switch (step.what) {
      case 'operation':
        this.#begin(this.#tabOf(step.tab), step.operation);
        break;
      case 'remote':
        void this.#others
          .change(step.operation, this.#step)
          .catch((error: unknown) => this.#fail(error));
        break;
      case 'crash':
        this.#crash(step.tab);
        break;
      case 'close':
        this.#close(step.tab);
        break;
      case 'freeze':
        this.#tabOf(step.tab).freeze(step.milliseconds);
        break;
      default:
        this.#devices[step.device]!.isOffline = step.what === 'offline';
    }
  }

  #tabOf(number: number): Tab {
    return this.#tabs.find((tab) => tab.number === number)!;
  }

  /** Ends a tab without a close. Another one opens on the device. */
  #crash(number: number): void {
    const tab = this.#tabs.find((tab) => tab.number === number);
    if (tab === undefined) return void this.#pending.delete(closeOf(number));
    this.trace.push(`tab ${number} crashes`);
    this.#forget(tab);
    tab.crash();
    this.#openTab(tab.device);
  }

  #close(number: number): void {
    const tab = this.#tabOf(number);
    this.#forget(tab);
    this.#track(closeOf(number), tab.service.close());
    this.#openTab(tab.device);
  }

  #forget(tab: Tab): void {
    this.#tabs.splice(this.#tabs.indexOf(tab), 1);
    for (const call of this.#pending) {
      if (call.startsWith(`tab ${tab.number}:`)) this.#pending.delete(call);
    }
    this.#handles.forget(tab);
  }

  #write(spec: EventSpec, session: string, device: number, kind?: 'update' | 'change'): Version {
    return this.#ledger.begin(spec, session, this.#step, device, kind);
  }

  #begin(tab: Tab, operation: CacheOperation): void {
    const label = `tab ${tab.number}: ${operation.kind} of step ${this.#step}`;
    const call = this.#perform(tab, operation);
    this.#pending.add(label);
    const settle = (outcome: string): void => {
      // A crashed or closed tab is not judged.
      if (!this.#pending.delete(label)) return;
      this.trace.push(`${label} ${outcome}`);
    };
    call.then(
      (check) => {
        if (!this.#pending.has(label)) return;
        settle('is done');
        try {
          this.#step += 1;
          check();
        } catch (error) {
          this.#fail(error);
        }
      },
      (error: unknown) => {
        const isJudged = this.#pending.has(label);
        settle(`fails: ${String(error)}`);
        if (isJudged && !this.#isAllowed(tab, operation, error)) this.#fail(error);
      },
    );
  }

  #isAllowed(tab: Tab, operation: CacheOperation, error: unknown): boolean {
    const { kind } = operation;
    const handle = kind === 'append' ? this.#handles.get(operation.handle) : undefined;
    const mayBeDeleted = handle === undefined || this.#ledger.hasDeletion(handle.name);
    return mayFail(kind, error, mayBeDeleted, tab.isThrough);
  }

  /** Starts an operation, and returns what to do and to check when it is done. */
  async #perform(tab: Tab, operation: CacheOperation): Promise<() => void> {
    const { service, device } = tab;
    const beganAt = this.#step;
    switch (operation.kind) {
      case 'create':
      case 'getOrCreate': {
        const { key, state } = operation;
        const request = { ...key, state: { ...state } };
        const session = await (operation.kind === 'create'
          ? service.createSession(request)
          : service.getOrCreateSession(request));
        return () => {
          this.#created.add(sessionName(key));
          this.#addHandle(tab, session, beganAt, undefined);
        };
      }
      case 'get': {
        const { key, last } = operation;
        const config = last === undefined ? {} : { config: { numRecentEvents: last } };
        const session = await service.getSession({ ...key, ...config });
        return () => {
          if (session !== undefined) this.#addHandle(tab, session, beganAt, last);
          else this.#ledger.checkRead(sessionName(key), device.number, [], beganAt);
        };
      }
      case 'append': {
        const { session, name } = this.#handles.get(operation.handle);
        const written = operation.events.map((spec) => this.#write(spec, name, device.number));
        await service.appendEvents({ session, events: operation.events.map(eventOf) });
        return () => this.#acknowledge(written, tab);
      }
      case 'change': {
        const { session, name } = this.#handles.get(operation.handle);
        const changed = this.#write(operation.event, name, device.number, 'change');
        const key = { ...USER, sessionId: session.id };
        await service.outbox.change(key, eventOf(operation.event));
        return () => this.#ledger.acknowledge(changed, this.#step);
      }
      case 'drop': {
        const { session } = this.#handles.get(operation.handle);
        this.#ledger.giveUp(operation.id);
        await service.outbox.drop({ ...USER, sessionId: session.id }, operation.id);
        return () => undefined;
      }
      case 'update': {
        const { key, event } = operation;
        const written = this.#write(event, sessionName(key), device.number, 'update');
        await service.updateState({
          ...key,
          stateDelta: { ...event.delta, [UPDATE_KEY]: event.id },
        });
        return () => this.#acknowledge([written], tab);
      }
      case 'updateUser':
        await service.updateState({ ...USER, stateDelta: { 'user:a': operation.value } });
        return () => undefined;
      case 'title':
        await service.updateSession(operation.key, { title: operation.title });
        return () => undefined;
      case 'delete':
        this.#ledger.noteDeletion(sessionName(operation.key), device.number);
        await service.deleteSession(operation.key);
        return () => undefined;
      case 'deleteUser':
        for (const key of NAMES) this.#ledger.noteDeletion(sessionName(key), device.number);
        await service.deleteUser(USER);
        return () => undefined;
      case 'deleteUserState':
        await service.deleteUserState(USER);
        return () => undefined;
      case 'list': {
        const { sessions, totalItems } = await service.listSessions(USER);
        return () => {
          if (sessions.length !== totalItems)
            throw new Error(`a list of ${sessions.length} sessions counts ${totalItems}`);
        };
      }
      case 'sync':
        await service.sync();
        return () => undefined;
    }
  }

  #acknowledge(versions: readonly Version[], { isThrough }: Tab): void {
    for (const version of versions) {
      this.#ledger.acknowledge(version, this.#step);
      const { session, id, isGivenUp } = version.event;
      if (!isThrough || isGivenUp || this.#ledger.hasDeletion(session)) continue;
      const hasArrived = this.#remote.arrivals.has(markOf(session, id));
      if (!hasArrived) throw new Error(`${id} was acknowledged before the remote had it`);
    }
  }

  #addHandle(tab: Tab, session: Session, beganAt: number, last: number | undefined): void {
    const { appName, userId, id, events, state } = session;
    const name = sessionName({ appName, userId, sessionId: id });
    this.#ledger.checkRead(name, tab.device.number, events, beganAt, last);
    // Offline, a copy that was listed and never read lacks the oldest events.
    const oldest = this.#remote.oldestOf(name);
    const isWhole =
      last === undefined && (oldest === undefined || oldest === markOf(name, events[0]?.id ?? ''));
    this.#handles.add({
      tab,
      name,
      session,
      events,
      state,
      isWhole,
    });
  }

  #track(label: string, call: Promise<unknown>): void {
    this.#pending.add(label);
    const settle = (): void => void this.#pending.delete(label);
    call.then(settle, settle);
  }

  /** Lets requests and time pass until a call of the simulation itself has settled. */
  async #wait<T>(what: string, call: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => void (isSettled = true);
    call.then(settle, settle);
    await this.#until(what, () => isSettled);
    return call;
  }

  async #until(what: string, isDone: () => boolean): Promise<void> {
    await until(this.#pace, () => {
      this.#requireSound();
      this.#turns += 1;
      if (this.#turns > MOST_TURNS)
        throw new Error(`${what} never ends; pending: ${[...this.#pending].join()}`);
      return isDone();
    });
  }

  #fail(error: unknown): void {
    this.#problem ??= error instanceof Error ? error : new Error(String(error));
  }

  #requireSound(): void {
    if (this.#problem !== undefined) throw this.#problem;
  }
}

function closeOf(tab: number): string {
  return `close of tab ${tab}`;
}
