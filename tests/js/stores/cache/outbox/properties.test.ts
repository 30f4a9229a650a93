// What holds of the outbox of a session, whatever happens to it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';

import type { Happening, Seen } from '../../../../../js/stores/cache/outbox/happening.js';
import {
  attemptsOf,
  eventsOf,
  isAskedFor,
  isOf,
  isRefused,
  isSent,
  isWaiting,
  type Mutation,
  replacedVersionOf,
} from '../../../../../js/stores/cache/outbox/mutation.js';
import { step } from '../../../../../js/stores/cache/outbox/outbox_table.js';
import {
  blockersOf,
  blocksAll,
  sendableOf,
} from '../../../../../js/stores/cache/outbox/refusals.js';
import { cases } from '../../../../properties.js';
import {
  append,
  appendShared,
  ask,
  create,
  DELETION,
  describeSession,
  FORBIDDEN,
  LOCAL_ID,
  NOT_FOUND,
  rewind,
} from './mutations.js';

const ADDED = ['append', 'append', 'ask', 'shared', 'edit', 'undo', 'title'] as const;
const ANSWERS = [
  'stored',
  'stored',
  'acknowledged',
  'unstored',
  'held',
  'refused',
  'stale',
] as const;
const OTHERS = [
  'gone',
  'copied',
  'retry',
  'drop',
  'give',
  'delete',
  'deleteUser',
  'strip',
] as const;
const KINDS = [...ADDED, 'claim', 'claim', 'claim', ...ANSWERS, ...OTHERS, 'creation'] as const;

interface Event {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
}

const events = fc.array(fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(20) }), {
  maxLength: 40,
});

const CREATIONS = ['none', 'new', 'provisional'] as const;

/** A session with its outbox, to which one thing happens after the other. */
class World {
  outbox: readonly Mutation[] = [];
  counter = 1;
  /** The copy; absent while the remote has not confirmed the session. */
  revision: number | undefined;
  /** The highest number of which the remote has heard, and that it has answered. */
  highest = 0;
  /** All that has happened, with the outbox before and after it. */
  readonly history: { happening: Happening; seen: Seen; before: readonly Mutation[] }[] = [];
  #events = 0;

  constructor(creation: (typeof CREATIONS)[number]) {
    if (creation === 'none') this.revision = 10;
    else this.happen({ type: 'added', mutations: [create(this.#draw(), { creation })] });
  }

  #draw(): number {
    return (this.counter += 1);
  }

  get seen(): Seen {
    const { revision, counter } = this;
    const copy = revision === undefined ? undefined : { localId: LOCAL_ID, revision };
    return { copy, revisions: new Map(), writes: {}, counter };
  }

  happen(happening: Happening): void {
    const { outbox: before, seen } = this;
    this.history.push({ happening, seen, before });
    const { outbox, effects, counter } = step(before, happening, seen);
    assert.ok(counter >= this.counter);
    this.outbox = outbox;
    this.counter = counter;
    // As `carryOut` does: what was acknowledged leaves with the copy.
    if (effects.includes('copy leaves')) {
      this.happen({ type: 'copied', localId: LOCAL_ID, revision: Infinity });
    }
  }

  /** Does what a kind says, if it is possible. Without an answer the happening is a late one. */
  act({ kind, at }: Event, isLate = false): void {
    const of = (isMeant: (mutation: Mutation) => boolean): Mutation | undefined => {
      const all = this.outbox.filter(isMeant);
      return all[at % Math.max(all.length, 1)];
    };
    const answered = isLate ? of(() => true) : of(isSent);
    switch (kind) {
      case 'claim':
        return this.#claim();
      case 'stored':
      case 'acknowledged':
      case 'unstored':
      case 'held':
      case 'refused':
      case 'stale':
        if (answered !== undefined) this.#answer(kind, answered);
        return;
      case 'creation':
        return this.#resolve(at);
      case 'gone':
        return this.happen({ type: 'gone', localId: LOCAL_ID, refusal: NOT_FOUND });
      case 'copied':
        if (this.revision === undefined) return;
        this.revision += at;
        return this.happen({ type: 'copied', localId: LOCAL_ID, revision: this.revision });
      case 'retry': {
        const numbers = this.outbox.filter(isRefused).map(({ number }) => number);
        return this.happen({ type: 'retried', numbers: at % 2 ? numbers : numbers.slice(0, 1) });
      }
      case 'drop': {
        const mutation = of(isWaiting);
        if (mutation === undefined || isOf(mutation, 'create')) return;
        return this.happen({ type: 'dropped', numbers: [mutation.number], shortened: [] });
      }
      case 'give': {
        const asked = of((each) => isOf(each, 'append', 'rewind') && each.write.run !== undefined);
        const messageId = asked && eventsOf(asked).at(-1)?.id;
        if (messageId === undefined) return;
        return this.happen({ type: 'givenUp', messageId, isCancelled: at % 2 === 0 });
      }
      case 'delete': {
        const mayBeRemote = this.revision !== undefined || this.outbox.some(isAskedFor);
        return this.happen({ type: 'deleted', localId: LOCAL_ID, mayBeRemote, write: DELETION });
      }
      case 'deleteUser':
        return this.happen({ type: 'userDeleted' });
      case 'strip': {
        const write = { isCleared: at % 5 === 0, values: [[`key${at % 3}`, 0]] as const };
        const writes = [{ ...write, number: this.counter }];
        return this.happen({ type: 'stripped', scope: 'user', writes });
      }
      default:
        return this.happen({ type: 'added', mutations: [this.#make(kind, at)] });
    }
  }

  #make(kind: (typeof ADDED)[number], at: number): Mutation {
    const number = this.#draw();
    const creation = this.outbox.find((each) => isOf(each, 'create'));
    const needsSession = creation?.creation === 'provisional';
    const id = `e${(this.#events += 1)}`;
    const earlier = this.outbox.filter((each) => isOf(each, 'append', 'rewind'));
    const other = earlier[at % Math.max(earlier.length, 1)];
    const otherId = other && eventsOf(other).at(-1)!.id;
    if (kind === 'title') return { ...describeSession(number, id), needsSession };
    if (kind === 'shared') return { ...appendShared(number, id, `key${at % 3}`), needsSession };
    if (kind === 'ask') return { ...ask(number, id), needsSession };
    if (kind === 'edit') {
      return { ...rewind(number, { turn: otherId ?? 'stored' }, id), needsSession };
    }
    if (kind === 'undo') {
      const marker = isOf(other, 'rewind') ? other.write.marker.invocationId : 'stored';
      return { ...rewind(number, { undo: marker }), needsSession };
    }
    // Every third append is another version of an event.
    const isVersion = at % 3 === 0 && isOf(other, 'append');
    return append(number, isVersion ? otherId! : id, {
      needsSession,
      replaces: isVersion ? { mutation: other.number } : at % 3 === 1 ? { revision: 7 } : 'nothing',
    });
  }

  /** Marks the first mutation that can be sent, if nothing is under way. */
  #claim(): void {
    const [first] = sendableOf(this.outbox);
    if (first === undefined) return;
    const claimed = { numbers: [first.number], attempts: attemptsOf(first) + 1 };
    this.happen({ type: 'claimed', ...claimed });
  }

  #answer(kind: (typeof ANSWERS)[number], { number }: Mutation): void {
    const numbers = [number];
    const refusal = FORBIDDEN;
    const mutation = this.outbox.find((each) => each.number === number)!;
    const at = (this.revision ?? 10) + 2;
    if (kind === 'stored' || kind === 'acknowledged') {
      if (isSent(mutation)) this.highest = Math.max(this.highest, number);
      if (isOf(mutation, 'create') && isSent(mutation)) this.revision ??= 10;
    }
    if (kind === 'acknowledged') this.happen({ type: 'stored', numbers, at });
    else if (kind === 'stored') this.happen({ type: 'stored', numbers });
    else if (kind === 'unstored') this.happen({ type: 'unstored', numbers });
    else if (kind === 'held') {
      this.happen({ type: 'heldByRun', numbers, attempts: attemptsOf(mutation) });
    } else {
      this.happen({ type: 'refused', number, refusal, actual: kind === 'stale' ? 9 : undefined });
    }
  }

  /** Takes the next answer to a creation. */
  #resolve(at: number): void {
    const creation = this.outbox.find((each) => isOf(each, 'create'));
    if (creation === undefined || !isSent(creation)) return;
    const { number } = creation;
    const { write } = create(number);
    if (at % 4 === 0) this.happen({ type: 'allowed', number, write, shared: {} });
    else if (!isAskedFor(creation)) this.happen({ type: 'existed', number });
    else if (at % 4 === 1) {
      this.revision ??= 10;
      this.highest = Math.max(this.highest, number);
      this.happen({ type: 'merged', number });
    } else this.happen({ type: 'absent', number, refusal: NOT_FOUND });
  }
}

/** Lets random things happen, and checks the world after each of them. */
function check(
  holds: (world: World, event: Event) => void,
  { before = () => undefined }: { readonly before?: (world: World, event: Event) => void } = {},
): void {
  const property = fc.property(fc.constantFrom(...CREATIONS), events, (creation, all) => {
    const world = new World(creation);
    for (const event of all) {
      before(world, event);
      world.act(event);
      holds(world, event);
    }
  });
  fc.assert(property, cases());
}

const idsOf = (outbox: readonly Mutation[]): Set<string> =>
  new Set(outbox.flatMap(eventsOf).map(({ id }) => id));

it('A late answer changes nothing', () => {
  check(() => undefined, {
    before(world, { at }) {
      const { outbox, seen } = world;
      const late = outbox.filter((each) => !isSent(each))[at % Math.max(outbox.length, 1)];
      const number = late?.number ?? 1_000_000;
      const numbers = [number];
      const answers: Happening[] = [
        { type: 'stored', numbers },
        { type: 'stored', numbers, at: 12 },
        { type: 'unstored', numbers },
        { type: 'heldByRun', numbers, attempts: 1 },
        { type: 'keptByRemote', numbers },
      ];
      const mayRefuse = late?.phase.is === 'fresh';
      if (!mayRefuse) answers.push({ type: 'refused', number, refusal: FORBIDDEN, actual: 9 });
      for (const answer of answers) {
        assert.deepEqual(step(outbox, answer, seen).outbox, outbox, answer.type);
        assert.deepEqual(step(outbox, answer, seen).effects, []);
      }
    },
  });
});

it('What was acknowledged or refused is never claimed', () => {
  check(({ outbox, seen }) => {
    const numbers = outbox.map(({ number }) => number);
    const { outbox: claimed } = step(outbox, { type: 'claimed', numbers, attempts: 9 }, seen);
    for (const [index, mutation] of outbox.entries()) {
      const isSendable = isWaiting(mutation) && !isRefused(mutation);
      assert.equal(attemptsOf(claimed[index]!), isSendable ? 9 : 0);
      if (!isSendable) assert.equal(claimed[index], mutation);
    }
  });
});

it('What replaces the event of a mutation names an earlier one that is there', () => {
  check(({ outbox }) => {
    for (const mutation of outbox) {
      const { mutation: replaced } = replacedVersionOf(mutation);
      if (replaced === undefined) continue;
      const earlier = outbox.find(({ number }) => number === replaced);
      assert.ok(earlier !== undefined && replaced < mutation.number);
      const [id] = idsOf([mutation]);
      assert.ok(idsOf([earlier]).has(id!));
    }
  });
});

it('An event leaves only when it is stored, dropped or given up, with its session, or for want of one', () => {
  const MAY_REMOVE = ['dropped', 'givenUp', 'deleted', 'userDeleted'];
  check((world) => {
    for (const [index, { happening, before }] of world.history.entries()) {
      const next = world.history[index + 1]?.before ?? world.outbox;
      if (MAY_REMOVE.includes(happening.type)) continue;
      const ids = idsOf(next);
      const gone = before.filter((each) => [...idsOf([each])].some((id) => !ids.has(id)));
      for (const mutation of gone) {
        const { phase, number, needsSession } = mutation;
        if (happening.type === 'stored')
          assert.ok(happening.numbers.includes(number) && isSent(mutation));
        else if (happening.type === 'absent') assert.ok(needsSession);
        else if (happening.type === 'copied' || happening.type === 'gone') {
          assert.equal(phase.is, 'acknowledged', happening.type);
        } else assert.fail(`${happening.type} removes an event`);
      }
    }
    world.history.length = 0;
  });
});

it('The numbers of what is claimed rise: none is below one that the remote has stored', () => {
  check((world) => {
    const numbers = world.outbox.map(({ number }) => number);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((one, other) => one - other),
    );
    assert.ok((numbers.at(-1) ?? 0) <= world.counter);
    const [first] = sendableOf(world.outbox);
    if (first !== undefined) assert.ok(first.number > world.highest);
  });
});

it('A happening that is told twice has happened once', () => {
  check((world) => {
    for (const { happening, seen, before } of world.history) {
      const once = step(before, happening, seen);
      const twice = step(once.outbox, happening, { ...seen, counter: once.counter });
      assert.deepEqual(twice.outbox, once.outbox, happening.type);
    }
    world.history.length = 0;
  });
});

it('What is fresh or sent, and not blocked, can be sent, and nothing else', () => {
  check(({ outbox }) => {
    const sendable = new Set(sendableOf(outbox));
    const blockers = blockersOf(outbox);
    for (const mutation of outbox) {
      const { is } = mutation.phase;
      const isFree = (is === 'fresh' || is === 'sent') && !blockers.has(mutation.number);
      assert.equal(sendable.has(mutation), isFree);
    }
    const stop = outbox.findIndex((each) => isRefused(each) && blocksAll(each));
    const behind = stop < 0 ? [] : outbox.slice(stop);
    assert.ok(behind.every((each) => !sendable.has(each) || isOf(each, 'cancel')));
  });
});
