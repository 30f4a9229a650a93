// The steps of a seed: tabs write and read a few sessions, other programs change the remote, and tabs end.

import { State, type StateShape } from '../../../js/index.js';
import type { EventSpec, SessionName } from '../operation.js';
import type { Random } from '../run/random.js';
import { FORBIDDEN, REFUSED } from './remote.js';
import type { CacheOperation, RemoteOperation, Step } from './script.js';

export const USER = { appName: 'shop', userId: 'ada' };

export const NAMES: readonly SessionName[] = ['s', 't', 'u'].map((sessionId) => ({
  ...USER,
  sessionId,
}));

const KEYS = ['a', 'b', 'user:a', 'app:a', 'temp:t'];

export interface HandleSurface {
  readonly number: number;
  /** The events that the device has written to the session. */
  readonly ids: readonly string[];
}

/** What the simulation has now. */
export interface Surface {
  /** The numbers of the open tabs, each with those of its handles. */
  readonly tabs: readonly { readonly number: number; readonly handles: readonly HandleSurface[] }[];
  readonly devices: readonly { readonly number: number; readonly isOffline: boolean }[];
}

const OPERATIONS = {
  append: 12,
  appendAgain: 2,
  change: 1,
  drop: 0.5,
  get: 5,
  getOrCreate: 3,
  create: 1,
  list: 1,
  update: 1.5,
  updateUser: 0.7,
  title: 0.5,
  sync: 0.7,
  delete: 0.7,
  deleteUser: 0.2,
  deleteUserState: 0.3,
};

const STEPS = {
  operation: 20,
  remote: 5,
  crash: 1,
  close: 0.4,
  freeze: 0.5,
  offline: 1.5,
  online: 2,
};

export class CacheWorkload {
  readonly #random: Random;
  readonly #operations = { ...OPERATIONS };
  readonly #steps = { ...STEPS };
  /** Whether the remote refuses some events for good. */
  readonly #hasRefusals: boolean;
  /** Whether tabs mostly write the same few events and keys again. */
  readonly #isRewriting: boolean;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#hasRefusals = random.isLikely(0.2);
    for (const kind of Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]) {
      this.#operations[kind] *= random.pick([0.2, 1, 1, 3]);
    }
    for (const what of Object.keys(STEPS) as (keyof typeof STEPS)[]) {
      this.#steps[what] *= random.pick([0, 1, 1, 3]);
    }
    this.#steps.operation = STEPS.operation;
    if (random.isLikely(0.7)) this.#operations.delete = this.#operations.deleteUser = 0;
    this.#isRewriting = random.isLikely(0.3);
    if (this.#isRewriting) {
      this.#operations.appendAgain = 20;
      this.#operations.change = random.pick([0, 5]);
    }
  }

  next({ tabs, devices }: Surface): Step {
    const random = this.#random;
    const what = random.weighted(this.#steps);
    const { number: tab, handles } = random.pick(tabs);
    switch (what) {
      case 'operation':
        return { what, tab, operation: this.#operation(handles) };
      case 'remote':
        return { what, operation: this.#remoteOperation() };
      case 'freeze':
        return { what, tab, milliseconds: random.pick([500, 4000, 9000, 30_000]) };
      case 'crash':
      case 'close':
        return { what, tab };
      case 'offline':
      case 'online':
        return { what, device: random.pick(devices).number };
    }
  }

  /** Events that the remote has at the start of the seed. */
  history(): readonly EventSpec[] {
    const length = this.#random.pick([0, 0, 1, 3, 3, 60]);
    return Array.from({ length }, () => this.#event(false));
  }

  event(): EventSpec {
    return this.#event(false);
  }

  #operation(handles: readonly HandleSurface[]): CacheOperation {
    const random = this.#random;
    const kind = random.weighted(this.#operations);
    const key = random.isLikely(0.6) ? NAMES[0]! : random.pick(NAMES);
    switch (kind) {
      case 'append':
      case 'appendAgain':
      case 'change': {
        if (handles.length === 0) return { kind: 'getOrCreate', key, state: {} };
        const { number: handle, ids } = random.pick(handles);
        const isAgain = kind !== 'append' && ids.length > 0;
        const length = kind === 'change' ? 1 : random.pick([1, 1, 1, 2, 3]);
        const events = Array.from({ length }, () => this.#event(this.#hasRefusals));
        const [first, ...others] = events as [EventSpec, ...EventSpec[]];
        const newest = ids.slice(this.#isRewriting ? -2 : -4);
        const event = isAgain ? { ...first, id: random.pick(newest) } : first;
        return kind === 'change' && isAgain
          ? { kind, handle, event }
          : { kind: 'append', handle, events: [event, ...others] };
      }
      case 'drop': {
        const unsent = handles.filter(({ ids }) => ids.length > 0);
        if (unsent.length === 0) return { kind: 'getOrCreate', key, state: {} };
        const { number: handle, ids } = random.pick(unsent);
        return { kind, handle, id: random.pick(ids.slice(-2)) };
      }
      case 'create':
      case 'getOrCreate':
        return { kind, key, state: this.#delta(0.2) };
      case 'get':
        return { kind, key, last: random.isLikely(0.3) ? random.below(4) : undefined };
      case 'update':
        return { kind, key, event: this.#event(false) };
      case 'updateUser':
        return { kind, value: `v${(this.#count += 1)}` };
      case 'title':
        return { kind, key, title: `title ${(this.#count += 1)}` };
      case 'delete':
        return { kind, key };
      case 'list':
      case 'sync':
      case 'deleteUser':
      case 'deleteUserState':
        return { kind };
    }
  }

  #remoteOperation(): RemoteOperation {
    const random = this.#random;
    const key = random.isLikely(0.6) ? NAMES[0]! : random.pick(NAMES);
    const mayDelete = this.#operations.delete > 0;
    const kind = random.weighted({
      append: 5,
      create: 2,
      updateUser: 0.7,
      delete: mayDelete ? 0.7 : 0,
    });
    if (kind === 'updateUser') return { kind, value: `v${(this.#count += 1)}` };
    if (kind !== 'append') return { kind, key };
    const length = random.pick([1, 1, 2, 12]);
    return { kind, key, events: Array.from({ length }, () => this.#event(false)) };
  }

  #event(mayBeRefused: boolean): EventSpec {
    this.#count += 1;
    const isRefused = mayBeRefused && this.#random.isLikely(0.15);
    return {
      id: `e${this.#count}`,
      text: `${isRefused ? this.#random.pick([REFUSED, FORBIDDEN]) : 'text'} ${this.#count} 日本`,
      timestamp: 1_700_000_000_000 + this.#random.pick([0, 0, -5000, 7000]),
      delta: this.#delta(this.#isRewriting ? 0.5 : 0.25),
    };
  }

  #delta(probability: number): StateShape {
    const entries = this.#random.some(KEYS, probability).map((key): [string, unknown] => {
      this.#count += 1;
      return [key, this.#random.pick<unknown>([this.#count, `v${this.#count}`, { b: [this.#count] }, State.REMOVED])]; // prettier-ignore
    });
    return Object.fromEntries(entries);
  }
}
