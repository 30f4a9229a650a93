// Several server processes over PostgreSQL, with a channel: what three do against one, and how soon the feed of one tells what
// another has stored.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { limited, median, percentile, shown } from '../measure.mjs';

// The tests' function that starts a server.
/** @type {typeof import('../../tests/js/stores/database/servers.js')} */
const { startPostgres } = await tsImport(
  '../../tests/js/stores/database/servers.ts',
  import.meta.url,
);

const program = fileURLToPath(new URL('../database/process.mjs', import.meta.url));
const LOAD_MS = 3000;
const ROUNDS = 3;
const EVENTS = 100;

/**
 * Runs work with so many processes.
 *
 * @template Result
 * @param {string} url
 * @param {{ count: number, hasChannel?: boolean }} how
 * @param {(ask: (process: number, command: string, more?: object) => Promise<any>) => Promise<Result>} work
 */
async function withProcesses(url, { count, hasChannel = true }, work) {
  const args = [url, hasChannel ? 'channel' : 'none'];
  const children = Array.from({ length: count }, () => fork(program, args));
  /** @param {number} number @param {string} command */
  const ask = async (number, command, more = {}) => {
    const child = /** @type {import('node:child_process').ChildProcess} */ (children[number]);
    child.send({ command, ...more });
    const ended = once(child, 'exit').then(() => {
      throw new Error('a process of the bench has failed');
    });
    const [answer] = await Promise.race([once(child, 'message'), ended]);
    return answer.result;
  };
  try {
    for (const number of children.keys()) await ask(number, 'open');
    return await work(ask);
  } finally {
    for (const child of children) child.kill();
  }
}

/** @param {string} url @param {number} count @param {boolean} asks */
async function rateOf(url, count, asks) {
  return withProcesses(url, { count }, async (ask) => {
    const load = { milliseconds: LOAD_MS, asks };
    const numbers = Array.from({ length: count }, (_, number) => number);
    const counts = await Promise.all(numbers.map((number) => ask(number, 'load', load)));
    return counts.reduce((sum, each) => sum + each, 0) / (LOAD_MS / 1000);
  });
}

/** Returns the milliseconds from each stored event to its notice in a feed of another process. @param {string} url */
async function delaysOf(url, hasChannel = true) {
  return withProcesses(url, { count: 3, hasChannel }, async (ask) => {
    await ask(1, 'watch');
    /** @type {[number, number][]} */
    const stored = await ask(0, 'append', { count: EVENTS, pauseMs: 80 });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    /** @type {[number, number][]} */
    const heard = await ask(1, 'heard');
    // A feed tells the newest revision of a session: an event that was appended before it was told with it.
    return stored.map(([revision, time]) => {
      const [, told = NaN] = heard.find(([each]) => each >= revision) ?? [];
      return Math.max(0, told - time);
    });
  });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function processes() {
  const server = await startPostgres();
  const url = `postgresql://adk@127.0.0.1:${server.port}/adk`;
  try {
    const results = [];
    for (const [asks, what] of /** @type {const} */ ([
      [false, 'appends'],
      [true, 'messages with their answers'],
    ])) {
      /** @type {{ one: number[], three: number[] }} */
      const rates = { one: [], three: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.one.push(await rateOf(url, 1, asks));
        rates.three.push(await rateOf(url, 3, asks));
      }
      const [ours, peer] = [median(rates.three), median(rates.one)];
      results.push(
        shown({ case: `${what}: three processes and one`, ours, peer, unit: 'per second' }),
      );
    }
    const told = await delaysOf(url);
    const asked = await delaysOf(url, false);
    for (const [name, most, ours, peer] of /** @type {const} */ ([
      ['half of them', 50, median(told), median(asked)],
      ['95 % of them', 200, percentile(told, 95), percentile(asked, 95)],
    ])) {
      const text = `notices of another process, ${name}`;
      results.push(limited({ case: `${text}: with a channel`, ours, unit: 'ms', most }));
      results.push(shown({ case: `${text}: with a channel and without`, ours, peer, unit: 'ms' }));
    }
    return results;
  } finally {
    await server.remove();
  }
}
