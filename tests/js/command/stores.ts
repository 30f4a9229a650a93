// Stores with all kinds of data for the tests of the command, and functions that read them.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { run } from '../../../js/command/run.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { type SessionService, createEvent, State, type Session } from '../../../js/index.js';
import type { CreateEventParams } from '../../../js/values/model/event/create_event.js';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command, as its program runs it. */
export async function command(...args: string[]): Promise<Outcome> {
  const said = { out: '', err: '' };
  const output = (name: 'out' | 'err') => ({
    write(text: string, done: () => void) {
      said[name] += text;
      done();
    },
  });
  const code = await run(args, { out: output('out'), err: output('err') });
  return { code, ...said };
}

/** The numbers of a row of the counts. */
export function row({ out }: Outcome, name: string): number[] {
  const line = out.split('\n').find((line) => line.startsWith(name)) ?? '';
  return line.slice(name.length).trim().split(/\s+/).map(Number);
}

export const APPS = ['app', 'other app'];

/** One of each: what is stored by other ways than by creating and appending, too. */
export async function fill(url: string): Promise<void> {
  const service = new DatabaseSessionService(url, { clock: () => 1_700_000_000_000 });
  const ada = { appName: 'app', userId: 'ada' };
  const append = (session: Session, params: CreateEventParams & Record<string, unknown>) =>
    service.appendEvent({ session, event: createEvent({ author: 'agent', ...params }) });

  const old = await service.createSession({ ...ada, sessionId: 'old', state: { topic: 'tea', gone: 1 } });
  // The only event, and its deltas are not what the states are in the end.
  await append(old, {
    id: 'e1',
    timestamp: 1_600_000_000_000.125,
    actions: { stateDelta: { 'user:name': 'A', 'app:rule': 1, topic: 'coffee', gone: State.REMOVED } },
  });

  const long = await service.createSession({ ...ada, sessionId: 'long', lastUpdateTime: 1_650_000_000_000, title: 'Long', labels: { kind: 'tea' } });
  for (let n = 0; n < 30; n += 1) {
    await append(long, {
      id: `e${n}`,
      // Some are before the one before them.
      timestamp: 1_650_000_000_000 + (n % 7) * 1000,
      invocationId: `i${n}`,
      content: { role: 'model', parts: [{ text: `turn ${n}` }] },
      actions: { stateDelta: { n, [`k${n}`]: { deep: [n, null, { __proto__: null, x: 'y' }] } } },
      my_field: { not_ours: n },
      branch: null,
    } as unknown as CreateEventParams);
  }
  // Replaced later, which leaves its delta where it was.
  await append(long, { id: 'e3', timestamp: 5, actions: { stateDelta: { 'user:name': 'Ada' } } });
  await service.updateState({ ...ada, sessionId: 'long', stateDelta: { k3: State.REMOVED, 'app:rule': 2 } });

  await service.createSession({ ...ada, sessionId: 'empty', state: { ['__proto__']: { a: 1 } } });
  const other = await service.createSession({ appName: 'app', userId: 'Ada', sessionId: 'long' });
  await append(other, { id: 'e1', timestamp: 1_690_000_000_000 });
  const strange = await service.createSession({
    appName: 'other app',
    userId: "bob's / 🫖",
    sessionId: 'ünï:%_',
    state: { 'user:tea': { price: 3.5, none: null }, 'app:open': true, text: 'line\nfeed "quoted" \u2028' },
  });
  await append(strange, { id: 'e1', timestamp: 1_500_000_000_000 });
  await service.updateState({ ...ada, userId: 'no sessions', stateDelta: { 'user:only': 'state' } });
  await service.close();
} // prettier-ignore

/** All data of a store, read through its service. */
export async function contents(service: SessionService): Promise<unknown> {
  const apps: unknown[] = [];
  for (const appName of APPS) {
    const { sessions } = await service.listSessions({ appName });
    const users = new Set([...sessions.map(({ userId }) => userId), 'no sessions']);
    const states: [string, unknown][] = [];
    for (const userId of [...users].sort()) {
      states.push([userId, await service.getUserState({ appName, userId })]);
    }
    const whole: unknown[] = [];
    for (const { userId, id: sessionId } of sessions) {
      whole.push(await service.getSession({ appName, userId, sessionId }));
    }
    apps.push({ app: await service.getAppState({ appName }), states, sessions: whole });
  }
  return JSON.parse(JSON.stringify(apps));
}

export async function contentsOf(url: string): Promise<unknown> {
  const service = new DatabaseSessionService(url);
  try {
    return await contents(service);
  } finally {
    await service.close();
  }
}

/** A hash of the bytes of a file. */
export function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
