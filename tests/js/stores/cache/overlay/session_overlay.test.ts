// The vectors of `tests/rust/outbox.rs`: a session with unsent writes is what the core's rules make of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { createEvent, type StateShape } from '../../../../../js/index.js';
import { newRecord, type SessionRecord } from '../../../../../js/stores/cache/records/records.js';
import { FRESH, type Mutation } from '../../../../../js/stores/cache/outbox/mutation.js';
import {
  localIdOfCopy,
  SessionOverlay,
  overlaidSessionOf,
} from '../../../../../js/stores/cache/overlay/session_overlay.js';

interface Change {
  delta: StateShape;
  time: number;
  firstTitle?: string;
  invocation?: string;
  rewindBefore?: string;
}

interface Described {
  title?: string;
  labels?: Record<string, string>;
}

interface Shown extends Described {
  state: StateShape;
  lastUpdateTime?: number;
}

type Write =
  | { create: Described & { state: StateShape; events: Change[]; time: number } }
  | { append: Change }
  | { describe: Described }
  | { delete: object };

interface Vector {
  name: string;
  stored: Shown | null;
  writes: Write[];
  session: Shown | null;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../../vectors/outbox.json', import.meta.url), 'utf8'),
) as Vector[];

const key = { appName: 'app', userId: 'user', sessionId: 's' };

function recordOf({ state, title = '', labels }: Shown): SessionRecord {
  return {
    ...newRecord(1, 0),
    copy: {
      created: 1,
      revision: 1,
      lastUpdateTime: 0,
      state: JSON.stringify(state),
      title,
      labels: labels === undefined ? '' : JSON.stringify(labels),
      describedAt: 0,
      first: 0,
      next: 0,
      hasOlder: false,
      size: 0,
      isStale: false,
    },
  };
}

/** Makes the mutations of writes. A deletion gives the session that is created next another local id. */
class Outbox {
  #number = 1;
  #localId = 1;

  mutationOf(write: Write): Mutation {
    const number = (this.#number += 1);
    const texts = 'create' in write ? write.create.events : 'append' in write ? [write.append] : [];
    const events = texts.map((change) => this.#eventOf(change));
    const numbers = events.map(() => {
      const localVersion = (this.#number += 1);
      return { seq: localVersion, localVersion };
    });
    if ('create' in write) this.#localId = number;
    const time = 'create' in write ? write.create.time : (texts[0]?.time ?? 0);
    const mutation = {
      number,
      numbers,
      phase: FRESH,
      shared: {},
      localId: this.#localId,
      time,
      write: { key, events, ...membersOf(write) },
    };
    // The members of a write that readers do not see are left out.
    return mutation as unknown as Mutation;
  }

  #eventOf({ delta, time, invocation = '', rewindBefore }: Change) {
    const id = `e${(this.#number += 1)}`;
    const event = createEvent({ id, invocationId: invocation, author: 'user', timestamp: time });
    event.actions.stateDelta = delta;
    if (rewindBefore) Object.assign(event.actions, { rewindBeforeInvocationId: rewindBefore });
    return { id, timestamp: time, text: JSON.stringify(event) };
  }
}

function membersOf(write: Write): object {
  const described = ({ title, labels }: Described) => ({
    title,
    labels: labels && JSON.stringify(labels),
  });
  if ('create' in write) {
    const state = JSON.stringify(write.create.state);
    return { kind: 'create', state, delta: '{}', description: described(write.create) };
  }
  if ('describe' in write) return { kind: 'describe', ...described(write.describe) };
  if ('delete' in write) return { kind: 'delete', what: 'session' };
  return { kind: 'append', firstTitle: write.append.firstTitle };
}

describe('A session with unsent writes', () => {
  for (const { name, stored, writes, session } of vectors) {
    it(`is what the core makes of them: ${name}`, () => {
      const record = stored === null ? undefined : recordOf(stored);
      const overlay = new SessionOverlay(localIdOfCopy(record));
      const outbox = new Outbox();
      for (const write of writes) overlay.add(outbox.mutationOf(write));
      const view = overlaidSessionOf(record, overlay);
      if (session === null) return assert.equal(view, undefined);
      assert.ok(view !== undefined);
      const { state, title = '', labels, lastUpdateTime = view.lastUpdateTime } = session;
      assert.deepEqual(JSON.parse(view.state), state);
      assert.equal(view.title, title);
      assert.deepEqual(view.labels === '' ? undefined : JSON.parse(view.labels), labels);
      assert.equal(view.lastUpdateTime, lastUpdateTime);
    });
  }
});
