// Runs one seed: clients over one storage perform the operations of the workload, in rounds, while requests fail. After
// each round, all stored data is compared with the model.

import {
  type SessionService,
  type Event,
  isSessionError,
  type SessionServiceOptions,
} from '../../../js/index.js';
import { isShown, linearize, type Round, type ObservedHandle } from '../model/linearize.js';
import { EMPTY, type World, worldText } from '../model/world.js';
import type { Call, EventSpec, Handle, Operation, StalePolicy } from '../operation.js';
import { describeOperation } from '../operation.js';
import type { Boundary, Client, SimulatedStorage } from './boundary.js';
import { judge } from './judge.js';
import { observe } from './observe.js';
import { StuckError, until } from './pace/pace.js';
import { perform, shownBy } from './perform.js';
import { Random } from './random.js';
import { Workload } from './workload.js';

/** A client with its handles. */
interface Member extends Client {
  readonly number: number;
  readonly policy: StalePolicy;
  readonly handles: Map<number, Handle>;
  isClosed: boolean;
}

interface Pending {
  readonly call: Call;
  readonly abort: AbortController | undefined;
}

/** Most seeds are short, so that many can run. Some have a longer history. */
const ROUNDS = [1, 2, 2, 3, 5];
const MAX_PARALLEL = 5;

/**
 * The number of steps without progress in which callers may still abort, close and crash. In a longer wait, a time limit
 * must end the call, and a crash of the client would end it earlier.
 */
const RESTLESS_STEPS = 20;

/** Runs the operations of a seed, or only the first `limit` of them. */
export class Simulation {
  /** The history. Texts are made only when they are read. */
  readonly #trace: (string | (() => string))[] = [];
  readonly #boundary: Boundary;
  readonly #random: Random;
  readonly #limit: number;
  readonly #roundCount: number;
  readonly #workload: Workload;
  readonly #storage: SimulatedStorage;
  readonly #members: Member[] = [];
  readonly #rounds: Round[] = [];
  readonly #objects = new WeakMap<EventSpec, Event>();
  #observer: SessionService | undefined;
  #worlds: World[] = [EMPTY];
  #calls: Call[] = [];
  #pending = new Map<number, Pending>();
  /** The numbers of the clients whose `close` is pending. */
  readonly #closing = new Set<number>();
  #now = 1_700_000_000_000;
  #step = 0;
  #ids = 0;
  #clients = 0;
  /** The number of crashed clients without a successor. */
  #crashes = 0;
  /** The number of operations that were started. */
  startedCount = 0;

  constructor(boundary: Boundary, seed: number, limit: number, storage: SimulatedStorage) {
    this.#boundary = boundary;
    this.#random = new Random(seed, 'schedule');
    this.#limit = limit;
    this.#roundCount = new Random(seed, 'rounds').pick(ROUNDS);
    this.#storage = storage;
    this.#workload = new Workload(new Random(seed, 'workload'), storage.names, boundary.without);
  }

  get trace(): string[] {
    return this.#trace.map((line) => (typeof line === 'string' ? line : line()));
  }

  /** @throws Error if the contract is violated */
  async run(): Promise<void> {
    this.#storage.onCrash = (client) => {
      this.#crash(this.#members.find(({ number }) => number === client));
    };
    this.#observer = await this.#storage.openObserver();
    const clients = this.#boundary.isSequential === true ? 1 : 1 + this.#random.below(3);
    for (let left = clients; left > 0; left -= 1) await this.#addClient();
    for (let round = 0; round < this.#roundCount && this.startedCount < this.#limit; round += 1) {
      this.#storage.faults.isOn = true;
      await this.#playRound(1 + this.#random.below(MAX_PARALLEL));
      this.#storage.faults.isOn = false;
      await this.#checkRound();
      await this.#replaceClosed();
    }
    await this.#probe();
    await this.#end();
  }

  async #addClient(): Promise<void> {
    this.#clients += 1;
    const policy = this.#random.pick<StalePolicy>(['merge', 'merge', 'append', 'reject']);
    const options: SessionServiceOptions = {
      stale: policy,
      clock: () => this.#now,
      newId: () => `id ${(this.#ids += 1)}`,
    };
    const number = this.#clients;
    const client = await this.#storage.openClient(number, options);
    const { service } = client;
    const crash = () => client.crash();
    this.#members.push({ number, policy, handles: new Map(), isClosed: false, service, crash });
    this.#log(`client ${number} opens (stale: ${policy})`);
  }

  /** Starts some operations at moments that the seed decides, and waits until all have settled. */
  async #playRound(operations: number): Promise<void> {
    this.#now += 1 + this.#random.below(5000);
    let remaining = operations;
    let idle = 0;
    for (;;) {
      const isOver = this.#pending.size === 0 && this.#closing.size === 0;
      if (this.#crashes === 0 && remaining === 0 && isOver && !this.#storage.pace.isBusy) return;
      // A crashed client gets a successor.
      for (; this.#crashes > 0; this.#crashes -= 1) await this.#addClient();
      this.#step += 1;
      const isNext = this.#boundary.isSequential !== true && this.#random.isLikely(0.5);
      if (remaining > 0 && (isOver || isNext)) {
        remaining -= 1;
        const isAllowed = this.startedCount < this.#limit;
        if (isAllowed) this.#begin(this.#random.pick(this.#members));
        else remaining = 0;
        continue;
      }
      if (idle < RESTLESS_STEPS) this.#disturb();
      const { pace } = this.#storage;
      idle = (await pace.next(idle)) ? 0 : idle + 1;
      if (idle > pace.patience) this.#failPending();
    }
  }

  /** Sometimes aborts a call, closes a client or crashes it. */
  #disturb(): void {
    if (this.#random.isLikely(0.03)) this.#abortOne();
    const end = this.#random.next();
    if (end < 0.01) this.#closeOne();
    else if (end < 0.02) this.#crash(this.#random.pick(this.#members));
  }

  /** Fails, because the pending calls never settle. */
  #failPending(): never {
    for (const number of this.#closing) throw new Error(`close of client ${number} never settles`);
    for (const { call } of this.#pending.values()) judge(call);
    throw new StuckError();
  }

  #begin(member: Member, chosen?: Operation): void {
    const handles = [...member.handles.values()];
    const operation = chosen ?? this.#workload.next(handles, this.#now);
    const abort = this.#random.isLikely(0.1) ? new AbortController() : undefined;
    this.startedCount += 1;
    // Overlapping calls may share a request that fails: a new connection, or a batch.
    const overlapping = [...this.#pending.values()].filter(
      ({ call }) => call.client === member.number,
    );
    const faults = Math.min(
      this.#storage.faults.overOf(member.number),
      ...overlapping.map(({ call }) => call.faultsBefore),
    );
    const call: Call = {
      number: this.startedCount,
      client: member.number,
      operation,
      beganAt: this.#step,
      settledAt: Number.MAX_SAFE_INTEGER,
      outcome: { kind: 'pending' },
      now: this.#now,
      isAborted: false,
      isAfterClose: member.isClosed,
      isDuringClose: false,
      faultsBefore: faults,
      faultsAfter: faults,
      policy: operation.kind === 'update' ? 'append' : member.policy,
    };
    this.#log(
      () => `client ${member.number} starts ${call.number}: ${describeOperation(operation)}`,
    );
    this.#calls.push(call);
    this.#pending.set(call.number, { call, abort });
    const settle = (outcome: Call['outcome']): void => {
      if (call.outcome.kind !== 'pending') return;
      call.outcome = outcome;
      this.#step += 1;
      call.faultsAfter = this.#storage.faults.countOf(member.number);
      const isOpen = outcome.kind === 'failed' && outcome.code === 'connection_lost';
      if (!isOpen || this.#boundary.mayCommitLate !== true) call.settledAt = this.#step;
      this.#pending.delete(call.number);
      this.#log(() => `${call.number} ${outcome.kind === 'failed' ? `fails: ${String(outcome.error)}` : outcome.kind}`); // prettier-ignore
    };
    const { rules } = this.#boundary;
    const signal = abort?.signal;
    perform(member.service, operation, member.handles, this.#objects, signal, rules).then(
      ({ value, session }) => {
        settle({ kind: 'done', value });
        if (session === undefined || !('handle' in operation) || member.isClosed) return;
        const { key, handle: number } = operation;
        member.handles.set(number, { number, client: member.number, key, session });
      },
      (error: unknown) => {
        const code = isSessionError(error) ? error.code : 'no SessionError';
        settle({ kind: 'failed', code, error });
      },
    );
  }

  #abortOne(): void {
    const abortable = [...this.#pending.values()].filter(({ abort }) => abort?.signal.aborted === false); // prettier-ignore
    if (abortable.length === 0) return;
    const { call, abort } = this.#random.pick(abortable);
    this.#log(`the signal of ${call.number} fires`);
    call.isAborted = true;
    abort!.abort(new Error('aborted by the simulation'));
  }

  /** Drops a client with its pending calls. Another one replaces it. */
  #crash(member: Member | undefined): void {
    if (member === undefined) return;
    this.#log(`client ${member.number} crashes`);
    this.#closing.delete(member.number);
    this.#removeMember(member);
    for (const [number, { call }] of this.#pending) {
      if (call.client !== member.number) continue;
      call.outcome = { kind: 'crashed' };
      this.#pending.delete(number);
    }
    member.crash();
    this.#crashes += 1;
  }

  #closeOne(): void {
    const member = this.#random.pick(this.#members);
    if (member.isClosed) return;
    this.#log(`client ${member.number} closes`);
    member.isClosed = true;
    for (const { call } of this.#pending.values()) {
      if (call.client === member.number) call.isDuringClose = true;
    }
    this.#close(member);
  }

  /** Closes a client. The close may fail if its storage fails. */
  #close({ service, number }: Member): void {
    this.#closing.add(number);
    const settle = (outcome: string): void => {
      if (this.#closing.delete(number)) this.#log(`client ${number} ${outcome}`);
    };
    service.close().then(
      () => settle('is closed'),
      (error: unknown) => settle(`is closed with an error: ${String(error)}`),
    );
  }

  #removeMember(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
  }

  async #replaceClosed(): Promise<void> {
    for (const member of this.#members.filter(({ isClosed }) => isClosed)) {
      this.#removeMember(member);
      await this.#addClient();
    }
  }

  /** Searches worlds that agree with the observation of the round. */
  async #checkRound(): Promise<void> {
    const steps = this.#calls.flatMap((call) => judge(call) ?? []);
    this.#calls = [];
    const { rules } = this.#boundary;
    const stored = await this.#waitFor(observe(this.#observer!, this.#workload.names, rules));
    const handles = new Map<number, ObservedHandle>();
    for (const member of this.#members) {
      if (member.isClosed) continue;
      for (const handle of member.handles.values()) {
        handles.set(handle.number, shownBy(handle, rules));
      }
    }
    const round: Round = { steps, observation: { stored, handles } };
    this.#rounds.push(round);
    const worlds = linearize(this.#worlds, round, rules, false);
    this.#worlds = worlds.length > 0 ? worlds : this.#searchAll();
  }

  /** Searches all rounds again: an earlier round may fit several worlds, and only another one leads here. */
  #searchAll(): World[] {
    let worlds: World[] = [EMPTY];
    for (const round of this.#rounds) {
      worlds = linearize(worlds, round, this.#boundary.rules, true);
    }
    if (worlds.length > 0) return worlds;
    throw new Error(this.#difference());
  }

  /** Describes the difference: either the stored data or the handles fit no order of the calls. */
  #difference(): string {
    const { steps, observation } = this.#rounds.at(-1)!;
    const before = this.#worlds.map(worldText).join('\nor\n');
    const { rules } = this.#boundary;
    const noHandles = {
      steps,
      observation: { ...observation, handles: new Map<number, ObservedHandle>() },
    };
    const [world] = linearize(this.#worlds, noHandles, rules, false);
    if (world === undefined) {
      return `no order of the calls leads to the stored data. Before:\n${before}\nstored:\n${observation.stored}`;
    }
    const wrong = [...observation.handles].flatMap(([number, handle]) => {
      const view = world.views.get(number);
      return view === undefined || isShown(view, handle)
        ? []
        : `handle ${number} has\n${JSON.stringify(handle)}\nbut must have\n${JSON.stringify(view)}`;
    });
    return `no order of the calls leads to the content of the handles:\n${wrong.join('\n')}`;
  }

  /** Checks that every client works after the faults, through its handles and through new ones. */
  async #probe(): Promise<void> {
    for (const member of this.#members) {
      const now = this.#now;
      const events = (number: number) => [{ id: `probe ${number}`, text: 'probe', timestamp: now, delta: { a: number } }]; // prettier-ignore
      for (const { number, key } of [...member.handles.values()].slice(-1)) {
        this.#begin(member, { kind: 'append', handle: number, key, events: events(this.startedCount), isBatch: false }); // prettier-ignore
        await this.#untilSettled();
      }
      const key = this.#workload.names[0]!;
      const handle = -member.number;
      this.#begin(member, { kind: 'getOrCreate', key, state: {}, handle });
      await this.#untilSettled();
      if (!member.handles.has(handle)) throw new Error('getOrCreateSession returned no session');
      this.#begin(member, { kind: 'append', handle, key, events: events(this.startedCount), isBatch: false }); // prettier-ignore
      await this.#untilSettled();
    }
    await this.#checkRound();
  }

  async #end(): Promise<void> {
    for (const member of this.#members) this.#close(member);
    await this.#untilSettled();
    await this.#waitFor(this.#observer!.close());
    const [violation] = this.#storage.violations ?? [];
    if (violation !== undefined) throw new Error(violation);
  }

  async #untilSettled(): Promise<void> {
    const { pace } = this.#storage;
    const isDone = () => this.#pending.size === 0 && this.#closing.size === 0 && !pace.isBusy;
    await until(pace, isDone).catch(() => this.#failPending());
  }

  /** Lets time pass until a call of the simulation itself has settled. */
  async #waitFor<T>(call: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => void (isSettled = true);
    call.then(settle, settle);
    await until(this.#storage.pace, () => isSettled);
    return call;
  }

  #log(line: string | (() => string)): void {
    this.#trace.push(...this.#storage.notes.splice(0).map((note) => `  ${note}`), line);
  }
}
