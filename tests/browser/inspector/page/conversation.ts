// What the inspector of the tests shows.

import {
  createEvent,
  type Event,
  InMemorySessionService,
  type NewEvent,
  openSessionService,
  type SessionService,
  State,
} from 'adk-session-wasm';
import type { Storage } from 'adk-session-wasm/storage';

import { wholeStorage } from '../../../js/service/whole_storage.js';

export const APP = { appName: 'shop' };
export const KEY = { ...APP, userId: 'ada', sessionId: 'tea-talk' };

const said = (id: string, author: string, text: string, stateDelta: Record<string, unknown> = {}): Event =>
  createEvent({ id, author, invocationId: 'i1', content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] }, actions: { stateDelta } }); // prettier-ignore

/** A conversation with a tool, changes in all scopes, and other sessions beside it. */
export async function teaShop(): Promise<InMemorySessionService> {
  let now = Date.UTC(2026, 0, 1);
  const service = new InMemorySessionService({ clock: () => (now += 1000) });
  for (let number = 1; number <= 60; number += 1) {
    const title = number % 2 === 0 ? `Order ${number}` : `Question ${number}`;
    const labels: Record<string, string> = number === 7 ? { pinned: 'yes' } : {};
    await service.createSession({ ...APP, userId: 'eva', sessionId: `s${number}`, title, labels });
  }
  const events = [
    said('e1', 'user', 'Which tea do you have?', { topic: 'tea' }),
    createEvent({
      id: 'e2',
      author: 'guide',
      invocationId: 'i1',
      content: { role: 'model', parts: [{ text: 'Let me look.' }, { functionCall: { id: 'c1', name: 'find_tea', args: { kind: 'green', limit: 3 } } }] }, // prettier-ignore
    }),
    createEvent({
      id: 'e3',
      author: 'guide',
      invocationId: 'i1',
      content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'find_tea', response: { teas: ['sencha', 'matcha'] } } }] }, // prettier-ignore
    }),
    said('e4', 'guide', 'Sencha and matcha.', { topic: 'green tea', 'user:name': 'Ada', 'app:rule': 'Be kind.', mood: 'good' }), // prettier-ignore
    said('e5', 'user', 'Thank you!', { mood: State.REMOVED }),
  ];
  const session = await service.createSession({
    ...KEY,
    state: { topic: 'nothing' },
    title: 'Tea',
  });
  await service.appendEvents({ session, events });
  return service;
}

/** A session of many short events. */
export async function longTalk(count: number): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...KEY, title: 'Long' });
  // Without its events, which the handle would keep.
  const handle = { ...session };
  for (let first = 1; first <= count; first += 5000) {
    const events = Array.from({ length: Math.min(5000, count - first + 1) }, (_, at): NewEvent => {
      const content = { role: 'user', parts: [{ text: `message ${first + at}` }] };
      return { id: `e${first + at}`, invocationId: 'i1', author: 'user', content };
    });
    await service.appendEvents({ session: handle, events });
    handle.events = [];
  }
  return service;
}

const SCRIPT = '<script>window.pwned = true</script><img src=x onerror="window.pwned = true">';

/** Texts, names, keys and values as an attacker would store them. */
export async function hostileShop(): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  const stateDelta = JSON.parse(
    JSON.stringify({
      [SCRIPT]: SCRIPT,
      'user:\u202Eeman': 'a\u202Eb',
      constructor: 1,
      toString: { valueOf: 1 },
    }).replace(
      '{',
      '{"__proto__": {"polluted": true}, "key": {"__proto__": {"polluted": true}, "type": "script", "props": {"dangerouslySetInnerHTML": {"__html": "x"}}},',
    ),
  ) as Record<string, unknown>;
  const args = JSON.parse(
    `{"__proto__": {"polluted": true}, "html": ${JSON.stringify(SCRIPT)}}`,
  ) as Record<string, unknown>;
  const events = [
    said('e1', SCRIPT, SCRIPT, stateDelta),
    createEvent({ id: `e2"'><script>`, author: 'javascript:alert(1)', invocationId: SCRIPT, branch: SCRIPT, content: { role: 'model', parts: [{ functionCall: { name: SCRIPT, args } }, { functionResponse: { name: SCRIPT, response: args } }] } }), // prettier-ignore
    said('e3', 'user', '\u202Etxet desrever\u202C and \u0000 and ' + 'x'.repeat(1_000_000)),
    { ...said('e4', 'guide', ''), errorCode: SCRIPT, errorMessage: SCRIPT },
    { ...said('e5', 'guide', 'odd'), content: { role: 'model', parts: [{ __html: SCRIPT, inlineData: { mimeType: 'text/html', data: 'PHNjcmlwdD4=' } }] } } as unknown as Event, // prettier-ignore
  ];
  const key = { appName: SCRIPT, userId: `${SCRIPT}\u202Eada`, sessionId: `../${SCRIPT}` };
  const session = await service.createSession({ ...key, title: SCRIPT.slice(0, 100) });
  await service.appendEvents({ session, events });
  return service;
}

export const HOSTILE_KEY = {
  appName: SCRIPT,
  userId: `${SCRIPT}\u202Eada`,
  sessionId: `../${SCRIPT}`,
};

/** A shop whose session has an event that cannot be read. */
export async function damagedShop(): Promise<SessionService> {
  const whole = wholeStorage();
  const storage: Storage = {
    ...whole,
    async read(request) {
      const rows = await whole.read(request);
      return { ...rows, events: rows.events.map((row) => ({ ...row, text: '{' })) };
    },
  };
  const service = await openSessionService({ storage });
  const labels = { team: 'a' };
  const session = await service.createSession({ ...KEY, title: 'Tea', labels });
  await service.appendEvent({ session, event: said('e1', 'user', 'hi') });
  return service;
}

/** The next read of a history waits until the one after it has ended. */
export function holdHistory(service: SessionService): void {
  const list = service.listEvents.bind(service);
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let reads = 0;
  service.listEvents = async (request) => {
    if (request.limit !== 500) return list(request);
    reads += 1;
    if (reads > 1) return list(request).finally(release);
    const page = await list(request);
    await isReleased;
    return page;
  };
}
