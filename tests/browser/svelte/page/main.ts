// Shows the components of docs/live.md, and gives snapshots back to a store as other libraries hold them.

import {
  liveSession,
  type LiveSessionSnapshot,
  liveSessions,
} from '../../../../js/ui/live/index.js';
import { CORE } from '../../../../js/core/core_of.js';
import { exposeScenarios } from '../../expose_scenarios.js';
import { holders, showRunes, showStore } from './components.js';
import { service } from './service.js';

const USER = { appName: 'shop', userId: 'ada' };
const KEY = { ...USER, sessionId: 's1' };

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000; tries += 1) {
    if (condition()) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error(
    `it did not happen: ${condition.toString()}; the page has ${document.body.innerText}`,
  );
}

const texts = (): string[] => [...document.querySelectorAll('p')].map(({ innerText }) => innerText);

/** Shows a component, sends with its button and from elsewhere, and removes it. Returns what it showed. */
async function show(name: 'store' | 'runes'): Promise<{ shown: string[][]; isWatched: boolean }> {
  // In a script of its driver, WebKit runs microtasks in the middle of `mount`, which Svelte does not expect.
  await new Promise((done) => setTimeout(done));
  const remove = (name === 'store' ? showStore : showRunes)(document.body);
  const shown: string[][] = [];
  const next = async (text: string): Promise<void> => {
    await until(() => texts().at(-1)?.includes(text) === true);
    shown.push(texts());
  };
  document.querySelector('button')!.click();
  await next('tea');
  const session = await service.getOrCreateSession(KEY);
  const content = { role: 'model', parts: [{ text: 'Oolong' }] };
  await service.appendEvent({ session, event: { invocationId: 'i1', author: 'guide', content } });
  await next('Oolong');
  remove();
  await until(() => texts().length === 0 && !service[CORE].publisher.hasReceivers);
  await service.deleteSession(KEY);
  return { shown, isWatched: service[CORE].publisher.hasReceivers };
}

/** Gives a snapshot of one event and others back as each library holds it. Returns what is stored, by library. */
async function giveBack(others: number): Promise<Record<string, unknown>> {
  const session = await service.createSession({
    ...KEY,
    title: 'Tea',
    state: { cart: { items: [1, { n: 2 }] } },
  });
  const parts = [
    { text: 'hi' },
    { functionCall: { id: 'f1', name: 'find', args: { of: ['tea'] } } },
  ];
  const author = { invocationId: 'i1', author: 'user' };
  const events = Array.from({ length: others }, (_, number) => ({
    ...author,
    id: `other${number}`,
  }));
  const event = { ...author, id: 'e1', content: { role: 'user', parts } };
  await service.appendEvents({ session, events: [event, ...events] });
  const store = liveSession(service, KEY, { window: 1000 });
  const list = liveSessions(service, USER);
  const stops = [store.subscribe(() => undefined), list.subscribe(() => undefined)];
  await Promise.all([store.load(), list.load()]);
  while (await store.loadOlder());
  const results: Record<string, unknown> = {};
  for (const [name, hold] of Object.entries(holders)) {
    const before = store.getSnapshot();
    const held: LiveSessionSnapshot = hold(before);
    const [event] = held.events;
    // An equal event changes nothing. Another id makes it another one.
    await store.send(event!);
    await store.send({ ...event!, id: name });
    await store.updateState({ cart: held.state.cart, [name]: held.state.cart });
    await list.rename(hold(list.getSnapshot()).sessions[0]!, name);
    const after = store.getSnapshot();
    const copy = after.events.find(({ id }) => id === name);
    results[name] = {
      isSame: after.events[0] === before.events[0],
      count: after.events.length - before.events.length,
      isCopied: JSON.stringify({ ...copy, id: 'e1' }) === JSON.stringify(before.events[0]),
      cart: after.state[name],
      title: after.title,
      unsent: Object.keys(after.unsent).length,
      isHeld: held !== before || Object.isFrozen(before),
    };
  }
  for (const stop of stops) stop();
  await service.deleteSession(KEY);
  return results;
}

const scenarios = { show, giveBack };
export type SvelteScenarios = typeof scenarios;
exposeScenarios(scenarios);
