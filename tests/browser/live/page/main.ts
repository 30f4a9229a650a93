// What a tab of the tests of live sessions does: it shows a session on its screen, and changes it.

import { openSessionService } from '../../../../js/index.js';
import { type LiveSessionSnapshot, liveSession } from '../../../../js/live/index.js';
import { exposeScenarios } from '../../expose_scenarios.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const service = openSessionService({ storage: 'indexeddb', name: 'live' });
const store = liveSession(service, KEY, { window: 20 });
/** When each line was first on the screen, in milliseconds since 1970. */
const shownAt = new Map<string, number>();

function linesOf({ status, title, events, scopes }: LiveSessionSnapshot): string[] {
  return [status, title ?? '', JSON.stringify(scopes.user), ...events.map(({ id }) => id)];
}

store.subscribe((snapshot) => {
  document.body.innerText = linesOf(snapshot).join('\n');
  for (const line of linesOf(snapshot)) if (!shownAt.has(line)) shownAt.set(line, Date.now());
});

/** Waits until the line is on the screen. Returns when that was. */
async function waitFor(line: string): Promise<number> {
  for (let tries = 0; tries < 12_000; tries += 1) {
    const time = shownAt.get(line);
    if (time !== undefined) return time;
    await new Promise((done) => setTimeout(done, 5));
  }
  throw new Error(`${line} was never shown; the page has ${document.body.innerText}`);
}

/** Sends an event. Returns when the call began. */
async function send(id: string): Promise<number> {
  const now = Date.now();
  await store.send({ id, author: 'user', content: { role: 'user', parts: [{ text: id }] } });
  return now;
}

const scenarios = {
  waitFor,
  send,
  rename: (title: string) => store.rename(title),
  setName: (name: string) => store.updateState({ 'user:name': name }),
  remove: () => store.remove(),
  lines: () => linesOf(store.getSnapshot()),
};
export type LiveScenarios = typeof scenarios;
exposeScenarios(scenarios);
