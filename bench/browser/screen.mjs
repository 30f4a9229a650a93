// When a new event is on the screen: in the tab that wrote it, and in another tab. And when an event is that a store sends.

import { createEvent, IndexedDbSessionService } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { makeEvents } from '../events.mjs';
import { limited, median, percentile } from '../measure.mjs';
import { user } from './stores/user.mjs';

const NAME = 'bench-screen';
const key = { ...user, sessionId: 'screen' };
const STORED = 1000;
const COUNT = 200;
const WARM_UP = 20;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Shows the id of the session's last event, and calls `onShown` with it in the frame that paints it. Returns the store. */
function show(service, onShown) {
  const line = document.body.appendChild(document.createElement('p'));
  const store = liveSession(service, key);
  store.subscribe(({ pages }) => {
    line.textContent = pages.at(-1)?.at(-1)?.id ?? '';
    onShown(line.textContent);
  });
  return store;
}

/** The other tab: tells which event it shows. */
export async function otherTab() {
  const channel = new BroadcastChannel(NAME);
  show(new IndexedDbSessionService({ name: NAME }), (id) => channel.postMessage(id));
}

export async function screen() {
  const service = new IndexedDbSessionService({ name: NAME, durability: 'relaxed' });
  const events = makeEvents(STORED, 0, createEvent);
  const session = await service.createSession({ ...key, events });

  /** Resolves to the time at which a source reports the event. */
  const seen = (id, listen) =>
    new Promise((resolve) => listen((shown) => shown === id && resolve(performance.now())));
  let onShown = (id) => void id;
  const store = show(service, (id) => onShown(id));
  const channel = new BroadcastChannel(NAME);
  const isOpen = new Promise((resolve) => (channel.onmessage = resolve));
  // Without an opener, the browser gives the other tab a process of its own.
  window.open('/?other-tab', '', 'noopener,width=600,height=400');
  await isOpen;

  /** The times of the next frame of an idle page, and after a commit of the event on each screen. */
  const frames = [];
  const own = [];
  const others = [];
  for (let round = -WARM_UP; round < COUNT; round += 1) {
    const [event] = makeEvents(1, STORED + WARM_UP + round, createEvent);
    const here = seen(event.id, (look) => (onShown = look));
    const there = seen(event.id, (look) => (channel.onmessage = ({ data }) => look(data)));
    // Otherwise each append would begin at the same time of a frame.
    await pause(Math.random() * 30);
    await service.appendEvent({ session, event });
    const committed = performance.now();
    // A screen may be told before this call returns.
    const [ownTime, otherTime] = (await Promise.all([here, there])).map((time) => Math.max(0, time - committed)); // prettier-ignore
    await pause(Math.random() * 30);
    const start = performance.now();
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (round < 0) continue;
    frames.push(performance.now() - start);
    own.push(ownTime);
    others.push(otherTime);
  }
  /** The times after the call of `send`, which shows its event before the commit. */
  const sent = [];
  for (let round = -WARM_UP; round < COUNT; round += 1) {
    const [event] = makeEvents(1, STORED + 2 * WARM_UP + COUNT + round, createEvent);
    const here = seen(event.id, (look) => (onShown = look));
    await pause(Math.random() * 30);
    const start = performance.now();
    const sending = store.send(event);
    const time = (await here) - start;
    await sending;
    if (round >= 0) sent.push(time);
  }
  await service.close();
  const times = (what, most, times) => [
    { case: `${what}, median`, ours: median(times), peer: median(frames), unit: 'ms', goal: 'none' }, // prettier-ignore
    limited({ case: `${what}, 95 %`, ours: percentile(times, 95), peer: percentile(frames, 95), unit: 'ms', most }), // prettier-ignore
  ];
  return [
    ...times('a new event on the own screen (other: the next frame)', 16.7, own),
    ...times('a new event on the screen of another tab', 50, others),
    ...times('a sent event on the own screen, before its commit', 16.7, sent),
  ];
}
