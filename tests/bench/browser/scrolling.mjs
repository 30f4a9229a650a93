// Scrolls a session of 100,000 events in the inspector, and beside it a plain list with as many nodes in sight.

import { createEvent, InMemorySessionService } from 'adk-session-wasm';
import 'adk-session-wasm/inspector';
import { makeEvents } from '../events.mjs';
import { median } from '../measure.mjs';
import { user } from './user.mjs';

const COUNT = 100_000;
const BATCH = 1000;
const ROW = 64;
/** Rows that pass in a frame: about a screen. */
const STEP = 8;
const FRAMES = 300;
const ROUNDS = 6;
/** A frame of 60 in a second, and two. Their times are rounded, so one is late only after another millisecond. */
const LIMITS = [16.7, 33.3];
const ROUNDING = 1;

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

async function longSession() {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...user, sessionId: 'long' });
  for (let first = 0; first < COUNT; first += BATCH) {
    await service.appendEvents({ session, events: makeEvents(BATCH, first, createEvent) });
    session.events.length = 0;
  }
  return service;
}

/** Returns the list of events of an inspector, once it shows them. */
async function openedList(service) {
  const inspector = document.createElement('adk-session-inspector');
  Object.assign(inspector, { service, ...user, sessionId: 'long' });
  inspector.style.height = '100vh';
  document.body.style.margin = '0';
  document.body.append(inspector);
  const find = (selector) => inspector.shadowRoot.querySelector(selector);
  while (find('.event') === null) {
    await frame();
    // In a narrow window it begins with the sessions.
    find('#tab-timeline')?.click();
  }
  return find('.events');
}

/** Returns a copy of a list with plain rows, as many as the inspector holds, in the place of it. */
function plainList(list) {
  const host = document.createElement('div');
  const { left, top, width, height } = list.getBoundingClientRect();
  Object.assign(host.style, { position: 'fixed', left: `${left}px`, top: `${top}px` });
  host.attachShadow({ mode: 'open' }).adoptedStyleSheets = list.getRootNode().adoptedStyleSheets;
  const box = list.cloneNode(true);
  Object.assign(box.style, { width: `${width}px`, height: `${height}px`, boxSizing: 'border-box' });
  const [space] = box.children;
  const rows = [...space.children];
  space.replaceChildren();
  for (let at = 0; at < 1000; at += 1) {
    const row = rows[at % rows.length].cloneNode(true);
    row.style.transform = `translateY(${at * ROW}px)`;
    space.append(row);
  }
  space.style.height = `${1000 * ROW}px`;
  host.shadowRoot.append(box);
  return { host, box };
}

/** Scrolls up by a step in each frame, and returns the times of the frames. */
async function scroll(box, onEnd) {
  const times = [];
  let last = await frame();
  for (let count = 0; count < FRAMES; count += 1) {
    if (box.scrollTop < STEP * ROW) onEnd();
    box.scrollTop -= STEP * ROW;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}

export async function scrolling() {
  const list = await openedList(await longSession());
  const { host, box } = plainList(list);
  const ours = [];
  const plain = [];
  let stops = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(...(await scroll(list, () => (stops += 1))));
    document.body.append(host);
    plain.push(...(await scroll(box, () => (box.scrollTop = box.scrollHeight))));
    host.remove();
  }
  const share = (times, limit) =>
    (100 * times.filter((time) => time > limit + ROUNDING).length) / times.length;
  const status = list.parentElement.querySelector('[role=status]').textContent;
  const [first] = /[\d,]+/.exec(status) ?? ['NaN'];
  const passed = COUNT - Number(first.replaceAll(',', ''));
  const unit = '% of frames';
  return [
    ...LIMITS.map((limit) => {
      const [own, bare] = [share(ours, limit), share(plain, limit)];
      const goal = 'at most 1 more than a plain list';
      return { case: `frames over ${limit} ms`, ours: own, peer: bare, unit, goal, ok: own <= bare + 1 }; // prettier-ignore
    }),
    { case: 'a frame', ours: median(ours), peer: median(plain), unit: 'ms', goal: 'none' },
    { case: 'frames that waited for events', ours: (100 * stops) / ours.length, unit, goal: 'none' }, // prettier-ignore
    { case: 'events that were scrolled past', ours: passed, unit: 'events', goal: 'none' },
  ];
}
