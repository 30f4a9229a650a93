// The operations of clients: the seed mixes appends, batches, retries, creates, deletions and reads over a few names, so
// that they conflict.

import { State, type StateShape } from '../../../js/index.js';
import type { EventSpec, Handle, Operation, SessionName } from '../operation.js';
import type { Random } from './random.js';

export type Kind = Operation['kind'];

const WEIGHTS: Readonly<Record<Kind, number>> = {
  append: 12,
  get: 4,
  create: 2,
  getOrCreate: 2,
  list: 1,
  update: 2,
  delete: 1,
  userState: 0.5,
  appState: 0.5,
  deleteUser: 0.2,
  deleteUserState: 0.2,
  deleteAppState: 0.2,
};

const KEYS = ['a', 'b', 'user:a', 'user:b', 'app:a', 'temp:t', '__proto__'];

/** The usual sessions. @param prefix separates seeds that share a server */
export function namesOf(prefix: string): readonly SessionName[] {
  return [
    { appName: `${prefix}app`, userId: 'ada', sessionId: 's' },
    { appName: `${prefix}app`, userId: 'ada', sessionId: 't' },
    { appName: `${prefix}app`, userId: 'bob', sessionId: 's' },
    { appName: `${prefix}other`, userId: 'ada', sessionId: 's' },
  ];
}

const canCount = (key: string): boolean => key !== 'temp:t' && key !== '__proto__';

export class Workload {
  readonly #random: Random;
  readonly #weights: Readonly<Record<Kind, number>>;
  readonly #names: readonly SessionName[];
  readonly #without: readonly string[];
  /** The events of earlier appends by session, for retries. */
  readonly #events = new Map<string, EventSpec[]>();
  #count = 0;

  /** @param without operations, `pages`, `batches`, `shared updates`, `computed deltas`, `removals at creation` */
  constructor(random: Random, names = namesOf(''), without: readonly string[] = []) {
    this.#random = random;
    this.#names = names;
    this.#without = without;
    const weights = { ...WEIGHTS };
    for (const kind of Object.keys(weights) as Kind[]) {
      // Each seed performs some operations more often, and some never.
      weights[kind] *= without.includes(kind) ? 0 : random.pick([0.2, 1, 1, 1, 3]);
    }
    this.#weights = weights;
  }

  get names(): readonly SessionName[] {
    return this.#names;
  }

  /** @param handles the client's handles */
  next(handles: readonly Handle[], now: number): Operation {
    const random = this.#random;
    let kind = random.weighted(this.#weights);
    if (kind === 'append' && handles.length === 0) kind = 'getOrCreate';
    const key = random.isLikely(0.6) ? this.#names[0]! : random.pick(this.#names);
    const { appName, userId } = key;
    this.#count += 1;
    switch (kind) {
      case 'create':
      case 'getOrCreate':
        return { kind, key, state: this.#initialState(), handle: this.#count };
      case 'get': {
        const last = random.isLikely(0.3) ? random.below(4) : undefined;
        return { kind, key, last, handle: this.#count };
      }
      case 'append':
        return this.#append(random.pick(handles), now);
      case 'list': {
        const isPaged = !this.#without.includes('pages') && random.isLikely(0.3);
        return {
          kind,
          appName,
          userId: random.isLikely(0.5) ? userId : undefined,
          order: random.pick(['asc', 'desc']),
          limit: isPaged ? random.below(3) : undefined,
          page: isPaged ? 1 + random.below(3) : 1,
        };
      }
      case 'update':
        return this.#update(key);
      case 'delete':
        return { kind, key };
      case 'appState':
      case 'deleteAppState':
        return { kind, appName };
      default:
        return { kind, appName, userId };
    }
  }

  #update(key: SessionName): Operation {
    const random = this.#random;
    const isOwn = this.#without.includes('shared updates');
    const counts = !this.#without.includes('computed deltas') && random.isLikely(0.5);
    const scope = isOwn ? 'session' : random.pick(['session', 'session', 'user', 'app']);
    const allowed = { session: KEYS, user: ['user:a', 'app:a'], app: ['app:a'] }[scope] ?? [];
    return {
      kind: 'update',
      appName: key.appName,
      userId: scope === 'app' ? undefined : key.userId,
      sessionId: scope === 'session' ? key.sessionId : undefined,
      delta: this.#delta(allowed, 0.7),
      counter: counts ? random.pick(allowed.filter(canCount)) : undefined,
    };
  }

  #append({ number, key }: Handle, now: number): Operation {
    const random = this.#random;
    const isBatch = random.isLikely(0.2) && !this.#without.includes('batches');
    const events = this.#events.get(JSON.stringify(key)) ?? [];
    this.#events.set(JSON.stringify(key), events);
    const chosen: EventSpec[] = [];
    const size = isBatch ? 1 + random.below(4) : 1;
    for (let count = size; count > 0; count -= 1) {
      const isRetry = events.length > 0 && random.isLikely(0.2);
      const spec = isRetry ? random.pick(events) : this.#event(now);
      if (chosen.some(({ id }) => id === spec.id)) continue;
      // A stored event with different content is replaced.
      const isReplacement = isRetry && random.isLikely(0.3);
      const event = isReplacement ? { ...this.#event(now), id: spec.id } : spec;
      chosen.push(event);
      events.push(event);
    }
    return { kind: 'append', handle: number, key, events: chosen, isBatch };
  }

  #event(now: number): EventSpec {
    this.#count += 1;
    const id = `e${this.#count}`;
    // Some clocks are behind, others ahead.
    const timestamp = now + this.#random.pick([0, 0, 0, -5000, 7000]);
    return { id, text: `text ${this.#count} 日本 😀`, timestamp, delta: this.#delta(KEYS, 0.3) };
  }

  #initialState(): StateShape {
    const state = this.#delta(KEYS, 0.3);
    if (!this.#without.includes('removals at creation')) return state;
    return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== State.REMOVED));
  }

  #delta(keys: readonly string[], probability: number): StateShape {
    const entries = this.#random.some(keys, probability).map((key): [string, unknown] => {
      this.#count += 1;
      const value = this.#random.pick<unknown>([
        this.#count,
        this.#count,
        `v${this.#count}`,
        { b: [this.#count, null], a: 1.5 },
        State.REMOVED,
      ]);
      return [key, value];
    });
    return Object.fromEntries(entries);
  }
}
