// Appends of texts that are not ASCII, compared with ASCII of the same bytes.

import { createEvent } from 'adk-session-wasm';
import { atMostByRound, median, timesInTurns } from '../measure.mjs';
import { OurService } from '../services.mjs';

const KEY = { appName: 'bench', userId: 'user', sessionId: 's' };
const APPENDS = 20;
const ROUNDS = { rounds: 80, warmUp: 100, collects: false };

/** @param {string} text */
const bytesOf = (text) => Buffer.byteLength(text);

/** Repeats a text up to a number of bytes. @param {string} text @param {number} bytes */
const filled = (text, bytes) => text.repeat(Math.floor(bytes / bytesOf(text)));

/** @type {Record<string, (bytes: number) => string>} */
const TEXTS = {
  ASCII: (bytes) => 'x'.repeat(bytes),
  'one ’': (bytes) => `${'x'.repeat(bytes / 2)}’${'x'.repeat(bytes / 2 - 3)}`,
  Korean: (bytes) => filled('오늘 서울의 날씨는 맑고 ', bytes),
  emoji: (bytes) => filled('Good 👍🏽 ', bytes),
};

/** Returns the median of single appends to a session of about 100 events, in µs. @param {string} text */
async function appendTime(text) {
  const service = new OurService();
  await service.createSession(KEY);
  const session = await service.getSession(KEY);
  const make = () =>
    createEvent({
      author: 'agent',
      content: { role: 'model', parts: [{ text }] },
      invocationId: 'i',
    });
  for (let event = 0; event < 90; event += 1) await service.appendEvent({ session, event: make() });
  const times = [];
  for (let append = 0; append < APPENDS; append += 1) {
    const event = make();
    const start = performance.now();
    await service.appendEvent({ session, event });
    times.push((performance.now() - start) * 1000);
  }
  await service.close();
  return median(times);
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function text() {
  const results = [];
  for (const bytes of [580, 4000]) {
    const sides = Object.entries(TEXTS).map(([name, make]) => [
      name,
      () => appendTime(make(bytes)),
    ]);
    const times = await timesInTurns(Object.fromEntries(sides), ROUNDS);
    for (const name of Object.keys(TEXTS).slice(1)) {
      results.push(
        atMostByRound({
          case: `append of ${bytes.toLocaleString('en')} bytes: ${name}`,
          ours: times[name] ?? [],
          peer: times.ASCII ?? [],
          unit: 'µs',
          most: 1.15,
          than: 'ASCII of the same bytes',
        }),
      );
    }
  }
  return results;
}
