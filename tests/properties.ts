// How many random cases a test runs, and which. The gate runs the same ones each time, the rest those of REST_SEED.
//
//   SEED=… CASE=… npm test -- FILE    repeats one failed case of a file: fast-check prints its seed and its path

/** Parameters of fast-check's `assert`. @param isRest whether the cases begin with REST_SEED */
export function runs(numRuns: number, isRest = false) {
  const { SEED, CASE, REST_SEED = '200000' } = process.env;
  const seed = Number(SEED ?? (isRest ? REST_SEED : 1));
  const one = CASE === undefined ? {} : { path: CASE, numRuns: 1, endOnFailure: true };
  return { seed, numRuns, includeErrorInReport: true, ...one };
}

/** Parameters of fast-check for a function that takes microseconds: few cases in the gate, many in the step `random-cases`. */
export function cases() {
  return { numRuns: Number(process.env.RANDOM_CASES ?? 200) };
}
