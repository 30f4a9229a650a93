// One seed: clients over one storage do what the workload says, round by round, while requests fail. After each round
// all that is stored is compared with the model.

import {
  type BaseSessionService,
  type Event,
  isSessionError,
  type SessionServiceOptions,
} from '../../../js/index.js';
import { isShown, linearize, type Round, type SeenHandle } from '../model/linearize.js';
import { EMPTY, type World, worldText } from '../model/world.js';
import type { Call, EventSpec, Handle, Operation, StalePolicy } from '../operation.js';
import { told } from '../operation.js';
import type { Boundary, Client, Simulated } from './boundary.js';
import { judge } from './judge.js';
import { observe } from './observe.js';
import { Stuck, until } from './pace.js';
import { perform, shownBy } from './perform.js';
import { Random } from './random.js';
import { Workload } from './workload.js';

/** A client, and what belongs to it. */
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

/** Most seeds are short, so that there are many of them; some have a history. */
const ROUNDS = [1, 2, 2, 3, 5];
const MAX_PARALLEL = 5;

/**
 * In how many steps of a round without progress callers may still abort, close and crash. In a longer wait a time limit
 * must end, and a client that crashes would end it first.
 */
const RESTLESS_STEPS = 20;

/** Runs the operations of a seed, or only the first `limit` of them. */
export class Simulation {
  /** What happened; texts are made only when somebody reads them. */
  readonly #trace: (string | (() => string))[] = [];
  readonly #boundary: Boundary;
  readonly #random: Random;
  readonly #limit: number;
  readonly #roundCount: number;
  readonly #workload: Workload;
  readonly #storage: Simulated;
  readonly #members: Member[] = [];
  readonly #rounds: Round[] = [];
  readonly #objects = new WeakMap<EventSpec, Event>();
  #observer: BaseSessionService | undefined;
  #worlds: World[] = [EMPTY];
  #calls: Call[] = [];
  #pending = new Map<number, Pending>();
  /** Numbers of the clients whose `close` is under way. */
  readonly #closing = new Set<number>();
  #now = 1_700_000_000_000;
  #step = 0;
  #ids = 0;
  #clients = 0;
  /** Clients that crashed and have no successor yet. */
  #crashes = 0;
  /** Operations that were begun. */
  begun = 0;

  constructor(boundary: Boundary, seed: number, limit: number, storage: Simulated) {
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

  /** @throws Error if something is not as the contract says */
  async run(): Promise<void> {
    this.#storage.onCrash = (client) => {
      this.#crash(this.#members.find(({ number }) => number === client));
    };
    this.#observer = await this.#storage.openObserver();
    const clients = this.#boundary.isSequential === true ? 1 : 1 + this.#random.below(3);
    for (let left = clients; left > 0; left -= 1) await this.#join();
    for (let round = 0; round < this.#roundCount && this.begun < this.#limit; round += 1) {
      this.#storage.faults.isOn = true;
      await this.#playRound(1 + this.#random.below(MAX_PARALLEL));
      this.#storage.faults.isOn = false;
      await this.#checkRound();
      await this.#replaceTheClosed();
    }
    await this.#probe();
    await this.#end();
  }

  async #join(): Promise<void> {
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
    this.#log(`client ${number} joins (stale: ${policy})`);
  }

  /** Begins some operations at moments that the seed decides, and lets all of them end. */
  async #playRound(operations: number): Promise<void> {
    this.#now += 1 + this.#random.below(5000);
    let left = operations;
    let idle = 0;
    for (;;) {
      const isOver = this.#pending.size === 0 && this.#closing.size === 0;
      if (this.#crashes === 0 && left === 0 && isOver && !this.#storage.pace.isBusy) return;
      // There is always somebody.
      for (; this.#crashes > 0; this.#crashes -= 1) await this.#join();
      this.#step += 1;
      const isNext = this.#boundary.isSequential !== true && this.#random.isLikely(0.5);
      if (left > 0 && (isOver || isNext)) {
        left -= 1;
        const isAllowed = this.begun < this.#limit;
        if (isAllowed) this.#begin(this.#random.pick(this.#members));
        else left = 0;
        continue;
      }
      if (idle < RESTLESS_STEPS) this.#disturb();
      const { pace } = this.#storage;
      idle = (await pace.next(idle)) ? 0 : idle + 1;
      if (idle > pace.patience) this.#blameThePending();
    }
  }

  /** Sometimes a caller changes its mind, or a client ends. */
  #disturb(): void {
    if (this.#random.isLikely(0.03)) this.#abortOne();
    const end = this.#random.next();
    if (end < 0.01) this.#closeOne();
    else if (end < 0.02) this.#crash(this.#random.pick(this.#members));
  }

  /** Whatever is pending now never settles. */
  #blameThePending(): never {
    for (const number of this.#closing) throw new Error(`close of client ${number} never settles`);
    for (const { call } of this.#pending.values()) judge(call);
    throw new Stuck();
  }

  #begin(member: Member, chosen?: Operation): void {
    const handles = [...member.handles.values()];
    const operation = chosen ?? this.#workload.next(handles, this.#now);
    const abort = this.#random.isLikely(0.1) ? new AbortController() : undefined;
    this.begun += 1;
    // Calls that overlap may share what fails: a connection that is being made, a batch.
    const beside = [...this.#pending.values()].filter(({ call }) => call.client === member.number);
    const faults = Math.min(
      this.#storage.faults.overOf(member.number),
      ...beside.map(({ call }) => call.faultsBefore),
    );
    const call: Call = {
      number: this.begun,
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
    this.#log(() => `client ${member.number} begins ${call.number}: ${told(operation)}`);
    this.#calls.push(call);
    this.#pending.set(call.number, { call, abort });
    const settle = (outcome: Call['outcome']): void => {
      if (call.outcome.kind !== 'pending') return;
      call.outcome = outcome;
      this.#step += 1;
      call.faultsAfter = this.#storage.faults.countOf(member.number);
      const isOpen = outcome.kind === 'failed' && outcome.code === 'connection_lost';
      if (!isOpen || this.#boundary.landsLate !== true) call.settledAt = this.#step;
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
    abort!.abort(new Error('the caller has changed its mind'));
  }

  /** The client is dropped with all that it waits for. Another one takes its place. */
  #crash(member: Member | undefined): void {
    if (member === undefined) return;
    this.#log(`client ${member.number} crashes`);
    this.#closing.delete(member.number);
    this.#leave(member);
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

  /** A `close` settles; it may fail where its storage does. */
  #close({ service, number }: Member): void {
    this.#closing.add(number);
    const settle = (outcome: string): void => {
      if (this.#closing.delete(number)) this.#log(`client ${number} ${outcome}`);
    };
    service.close().then(
      () => settle('is closed'),
      (error: unknown) => settle(`is closed, though that fails: ${String(error)}`),
    );
  }

  #leave(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
  }

  async #replaceTheClosed(): Promise<void> {
    for (const member of this.#members.filter(({ isClosed }) => isClosed)) {
      this.#leave(member);
      await this.#join();
    }
  }

  /** Looks for worlds in which the round happened as it was seen. */
  async #checkRound(): Promise<void> {
    const steps = this.#calls.flatMap((call) => judge(call) ?? []);
    this.#calls = [];
    const { rules } = this.#boundary;
    const stored = await this.#awaited(observe(this.#observer!, this.#workload.names, rules));
    const handles = new Map<number, SeenHandle>();
    for (const member of this.#members) {
      if (member.isClosed) continue;
      for (const handle of member.handles.values()) {
        handles.set(handle.number, shownBy(handle, rules));
      }
    }
    const round: Round = { steps, seen: { stored, handles } };
    this.#rounds.push(round);
    const worlds = linearize(this.#worlds, round, rules, false);
    this.#worlds = worlds.length > 0 ? worlds : this.#searchAll();
  }

  /** An earlier round may fit in several ways, of which only another one leads here. */
  #searchAll(): World[] {
    let worlds: World[] = [EMPTY];
    for (const round of this.#rounds) {
      worlds = linearize(worlds, round, this.#boundary.rules, true);
    }
    if (worlds.length > 0) return worlds;
    throw new Error(this.#difference());
  }

  /** Whether it is what is stored that fits no order of the calls, or what the handles show. */
  #difference(): string {
    const { steps, seen } = this.#rounds.at(-1)!;
    const before = this.#worlds.map(worldText).join('\nor\n');
    const { rules } = this.#boundary;
    const noHandles = { steps, seen: { ...seen, handles: new Map<number, SeenHandle>() } };
    const [world] = linearize(this.#worlds, noHandles, rules, false);
    if (world === undefined) {
      return `no order of the calls leads to what is stored. Before:\n${before}\nstored:\n${seen.stored}`;
    }
    const wrong = [...seen.handles].flatMap(([number, handle]) => {
      const view = world.views.get(number);
      return view === undefined || isShown(view, handle)
        ? []
        : `handle ${number} shows\n${JSON.stringify(handle)}\nand not\n${JSON.stringify(view)}`;
    });
    return `no order of the calls leads to what the handles show:\n${wrong.join('\n')}`;
  }

  /** Every client works on when nothing fails any more: through the handles that it has, and through new ones. */
  async #probe(): Promise<void> {
    for (const member of this.#members) {
      const now = this.#now;
      const events = (number: number) => [{ id: `probe ${number}`, text: 'probe', timestamp: now, delta: { a: number } }]; // prettier-ignore
      for (const { number, key } of [...member.handles.values()].slice(-1)) {
        this.#begin(member, { kind: 'append', handle: number, key, events: events(this.begun), isBatch: false }); // prettier-ignore
        await this.#untilSettled();
      }
      const key = this.#workload.names[0]!;
      const handle = -member.number;
      this.#begin(member, { kind: 'getOrCreate', key, state: {}, handle });
      await this.#untilSettled();
      if (!member.handles.has(handle)) throw new Error('getOrCreateSession gives no session');
      this.#begin(member, { kind: 'append', handle, key, events: events(this.begun), isBatch: false }); // prettier-ignore
      await this.#untilSettled();
    }
    await this.#checkRound();
  }

  async #end(): Promise<void> {
    for (const member of this.#members) this.#close(member);
    await this.#untilSettled();
    await this.#awaited(this.#observer!.close());
    const [complaint] = this.#storage.complaints ?? [];
    if (complaint !== undefined) throw new Error(complaint);
  }

  async #untilSettled(): Promise<void> {
    const { pace } = this.#storage;
    const isDone = () => this.#pending.size === 0 && this.#closing.size === 0 && !pace.isBusy;
    await until(pace, isDone).catch(() => this.#blameThePending());
  }

  /** Lets time pass until a call of the simulation's own is answered. */
  async #awaited<T>(call: Promise<T>): Promise<T> {
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
