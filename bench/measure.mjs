// Measures times: both sides run in the same process, in turns, so that other load on the machine affects both.

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
 * Returns the smallest value that at least `percent` of all values do not exceed.
 *
 * @param {readonly number[]} values
 * @param {number} percent
 * @returns {number}
 */
export function percentile(values, percent) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? NaN;
}

/**
 * Returns the milliseconds of one call.
 *
 * @param {() => unknown} run
 */
export async function timeOf(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/**
 * Returns the mean of `count` successive calls, for calls that are too short to be timed alone.
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
 * Runs each side once per round, in turns, and returns each side's times. A side returns one time or
 * several.
 *
 * @template {string} Side
 * @param {Record<Side, (round: number) => Promise<number | number[]>>} sides
 * @param {{ rounds?: number, warmUp?: number, collects?: boolean }} [options] Warm-up rounds are not counted.
 *   Garbage is collected before each turn, unless `collects` is false. A forced collection also discards unused
 *   object shapes and the code optimized for them. Short calls would then be as slow as in a new program.
 * @returns {Promise<Record<Side, number[]>>}
 */
export async function timesInTurns(sides, { rounds = 11, warmUp = 2, collects = true } = {}) {
  /** @type {[Side, number[]][]} */
  const times = Object.keys(sides).map((side) => [/** @type {Side} */ (side), []]);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [side, taken] of times) {
      // Otherwise this side would collect the garbage of the previous one.
      if (collects) globalThis.gc?.();
      const result = await sides[side](round);
      if (round >= 0) taken.push(...[result].flat());
    }
  }
  return /** @type {Record<Side, number[]>} */ (Object.fromEntries(times));
}

/**
 * Like `timesInTurns`, but returns each side's median.
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
 * }} Result `peer` is the comparison; `ratio` is `ours` divided by `peer`
 */

/**
 * Returns a result that is met if `ours` is at most `most` times `peer`.
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
 * Like `atMost`, for the times of rounds. The ratio is the median of the rounds' ratios, because the sides of one
 * round run under the same load.
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
 * Returns the medians of times with their goal, and the means for information.
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
 * Returns a result that is met if `ours` is at most `most` units.
 *
 * @param {{ case: string, ours: number, peer?: number | undefined, unit: string, most: number }} values
 * @returns {Result}
 */
export function limited({ most, ...values }) {
  const ratio = values.peer === undefined ? undefined : values.ours / values.peer;
  return { ...values, ratio, goal: `at most ${most} ${values.unit}`, ok: values.ours <= most };
}

/**
 * Returns a result without a goal.
 *
 * @param {{ case: string, ours: number, peer: number, unit: string }} values
 * @returns {Result}
 */
export function shown(values) {
  return { ...values, ratio: values.ours / values.peer, goal: 'none' };
}
