// Scrolls a session of 100,000 events in the inspector, and beside it a plain list with as many nodes in sight.

import { createEvent, InMemorySessionService } from 'adk-session-wasm';
import 'adk-session-wasm/inspector';
import { makeEvents } from '../events.mjs';
import { user } from './stores/user.mjs';

const COUNT = 100_000;
const BATCH = 1000;
const ROW = 64;
/** The rows that pass in a frame: a fling on a phone, and about a screen. */
const FLING = 2;
const SCREEN = 8;
const FRAMES = 300;
const ROUNDS = 4;
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

/** Scrolls up by some rows in each frame, and returns the times of the frames. */
async function scroll(box, rows, onEnd) {
  const times = [];
  let last = await frame();
  for (let count = 0; count < FRAMES; count += 1) {
    if (box.scrollTop < rows * ROW) onEnd();
    box.scrollTop -= rows * ROW;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}

/** Scrolls both lists in turns, and compares their frames. The first round is not counted. */
async function compare(list, plain, rows) {
  const ours = [];
  const others = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const onOldest = () => {
      throw new Error('the inspector did not read the older events in time');
    };
    const ownTimes = await scroll(list, rows, onOldest);
    document.body.append(plain.host);
    const { box } = plain;
    const otherTimes = await scroll(box, rows, () => (box.scrollTop = box.scrollHeight));
    plain.host.remove();
    if (round < 0) continue;
    ours.push(...ownTimes);
    others.push(...otherTimes);
  }
  const share = (times, limit) =>
    (100 * times.filter((time) => time > limit + ROUNDING).length) / times.length;
  return LIMITS.map((limit) => {
    const [own, other] = [share(ours, limit), share(others, limit)];
    return {
      case: `${rows} rows a frame: frames over ${limit} ms`,
      ours: own,
      peer: other,
      unit: '% of frames',
      ...(rows === FLING
        ? { goal: 'at most 1 more than a plain list', ok: own <= other + 1 }
        : { goal: 'none' }),
    };
  });
}

export async function scrolling() {
  const list = await openedList(await longSession());
  const plain = plainList(list);
  return [...(await compare(list, plain, FLING)), ...(await compare(list, plain, SCREEN))];
}
