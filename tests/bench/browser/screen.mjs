// When a new event is on the screen: in the tab that wrote it, and in another tab.

import { createEvent, IndexedDbSessionService } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { makeEvents } from '../events.mjs';
import { limited, median, percentile } from '../measure.mjs';
import { user } from './user.mjs';

const NAME = 'bench-screen';
const key = { ...user, sessionId: 'screen' };
const STORED = 1000;
const COUNT = 200;
const WARM_UP = 20;

const channel = () => new BroadcastChannel(NAME);
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
/** Ends after the frame that is under way has been painted. */
const afterPaint = () => pause(0);

/** Shows the id of the session's last event, and calls `onShown` with it in the frame that paints it. */
function show(service, onShown = (id) => void id) {
  const line = document.body.appendChild(document.createElement('p'));
  liveSession(service, key).subscribe(({ pages }) => {
    line.textContent = pages.at(-1)?.at(-1)?.id ?? '';
    onShown(line.textContent);
  });
  return line;
}

/** The other tab: tells which event it shows. */
export async function otherTab() {
  const told = channel();
  show(new IndexedDbSessionService({ name: NAME }), (id) => told.postMessage(id));
}

export async function screen() {
  const service = new IndexedDbSessionService({ name: NAME, durability: 'relaxed' });
  const events = makeEvents(STORED, 0, createEvent);
  const session = await service.createSession({ ...key, events });
  const line = show(service);

  // Without an opener, the browser gives the other tab a process of its own.
  const other = channel();
  const isOpen = new Promise((resolve) => (other.onmessage = resolve));
  window.open('/?other-tab', '', 'noopener,width=600,height=400');
  await isOpen;

  const own = [];
  const frames = [];
  const others = [];
  for (let round = -WARM_UP; round < COUNT; round += 1) {
    const [event] = makeEvents(1, STORED + WARM_UP + round, createEvent);
    let othersTime = NaN;
    const otherShows = new Promise((resolve) => {
      other.onmessage = ({ data }) => {
        if (data !== event.id) return;
        othersTime = performance.now();
        resolve(undefined);
      };
    });
    // Otherwise each append would begin at the same time of a frame.
    await pause(Math.random() * 30);
    await service.appendEvent({ session, event });
    const committed = performance.now();
    let count = 0;
    let ownTime = committed;
    while (line.textContent !== event.id || count === 0) {
      await frame();
      ownTime = performance.now();
      count += 1;
      await afterPaint();
    }
    await otherShows;
    if (round < 0) continue;
    own.push(ownTime - committed);
    frames.push(count);
    others.push(Math.max(0, othersTime - committed));
  }
  await service.close();
  const ms = { unit: 'ms' };
  return [
    limited({ case: 'on the own screen after, 95 %', ours: percentile(frames, 95), unit: 'frames', most: 1 }), // prettier-ignore
    { case: 'on the own screen after, median', ours: median(own), ...ms, goal: 'none' },
    { case: 'on the own screen after, 95 %', ours: percentile(own, 95), ...ms, goal: 'none' },
    { case: 'on the screen of another tab after, median', ours: median(others), ...ms, goal: 'none' }, // prettier-ignore
    limited({ case: 'on the screen of another tab after, 95 %', ours: percentile(others, 95), ...ms, most: 50 }), // prettier-ignore
  ];
}
