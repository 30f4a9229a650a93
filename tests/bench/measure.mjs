// Taking times: both sides in the same process, in turns, so that what else the machine does hits both.

/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/**
 * Milliseconds that one call takes.
 *
 * @param {() => unknown} run
 */
export async function timeOf(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/**
 * The same for calls too short to be timed alone: the mean of `count` calls, one after the other.
 *
 * @param {number} count
 * @param {() => unknown} run
 */
export async function timeOfMany(count, run) {
  const start = performance.now();
  for (let call = 0; call < count; call += 1) await run();
  return (performance.now() - start) / count;
}

/** @param {readonly number[]} values */
export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Runs each side once a round, in turns, and gives each side's times. What a side returns is one time
 * or several.
 *
 * @template {string} Side
 * @param {Record<Side, (round: number) => Promise<number | number[]>>} sides
 * @param {{ rounds?: number, warmUp?: number, collects?: boolean }} [options] warm-up rounds are run and not
 *   counted. Garbage is collected before each turn, unless `collects` is false: a forced collection takes
 *   along the shapes of objects of which none lives just then, and the code that was optimized for them,
 *   so that short calls would be measured as in a program that has just started.
 * @returns {Promise<Record<Side, number[]>>}
 */
export async function timesInTurns(sides, { rounds = 11, warmUp = 2, collects = true } = {}) {
  /** @type {[Side, number[]][]} */
  const times = Object.keys(sides).map((side) => [/** @type {Side} */ (side), []]);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [side, taken] of times) {
      // What the side before has left behind is not this one's to clear away.
      if (collects) globalThis.gc?.();
      const result = await sides[side](round);
      if (round >= 0) taken.push(...[result].flat());
    }
  }
  return /** @type {Record<Side, number[]>} */ (Object.fromEntries(times));
}

/**
 * The same, with each side's median.
 *
 * @template {string} Side
 * @param {Parameters<typeof timesInTurns<Side>>} args
 * @returns {Promise<Record<Side, number>>}
 */
export async function inTurns(...args) {
  const times = Object.entries(await timesInTurns(...args));
  const medians = times.map(([side, taken]) => [side, median(/** @type {number[]} */ (taken))]);
  return /** @type {Record<Side, number>} */ (Object.fromEntries(medians));
}

/**
 * @typedef {{
 *   case: string,
 *   ours: number,
 *   peer?: number | undefined,
 *   unit: string,
 *   goal: string,
 *   ratio?: number | undefined,
 *   ok?: boolean | undefined,
 * }} Result `peer` is what ours is compared with; `ratio` is ours divided by it
 */

/**
 * A result that is good if ours is at most `most` times the other.
 *
 * @param {{ case: string, ours: number, peer: number, unit: string, most: number, than?: string }} values
 * @returns {Result}
 */
export function atMost({ most, than = 'the peer', ...values }) {
  const ratio = values.ours / values.peer;
  return {
    ...values,
    ratio,
    goal: `at most ${Number(most.toPrecision(3))} × ${than}`,
    ok: ratio <= most,
  };
}

/**
 * The same of the times of rounds: the ratio is the median of each round's, since the sides of one round
 * meet the same weather.
 *
 * @param {{ case: string, ours: number[], peer: number[], unit: string, most: number, than?: string }} values
 * @returns {Result}
 */
export function atMostByRound({ ours, peer, most, ...values }) {
  const ratio = median(ours.map((time, round) => time / (peer[round] ?? NaN)));
  const result = atMost({ ...values, ours: median(ours), peer: median(peer), most });
  return { ...result, ratio, ok: ratio <= most };
}

/**
 * The medians of times with what is asked of them, and their means beside.
 *
 * @param {{ case: string, ours: number[], peer: number[], unit: string, most: number, than?: string }} values
 * @returns {Result[]}
 */
export function medianAndMean({ case: name, ours, peer, unit, ...goal }) {
  return [
    atMost({ case: name, ours: median(ours), peer: median(peer), unit, ...goal }),
    shown({ case: `${name}, mean`, ours: mean(ours), peer: mean(peer), unit }),
  ];
}

/**
 * A result that is good if ours is at most so many units, whatever the peer has.
 *
 * @param {{ case: string, ours: number, peer?: number | undefined, unit: string, most: number }} values
 * @returns {Result}
 */
export function limited({ most, ...values }) {
  const ratio = values.peer === undefined ? undefined : values.ours / values.peer;
  return { ...values, ratio, goal: `at most ${most} ${values.unit}`, ok: values.ours <= most };
}

/**
 * A result that nothing is asked of.
 *
 * @param {{ case: string, ours: number, peer: number, unit: string }} values
 * @returns {Result}
 */
export function shown(values) {
  return { ...values, ratio: values.ours / values.peer, goal: 'none' };
}
