// How many random cases a test runs, and which. The gate always runs the same ones, the rest others in each run.
//
//   SEED=… CASE=… npm test -- FILE    repeats one failed case of a file: fast-check prints its seed and its path

/** Parameters of fast-check's `assert`. @param isRest whether the cases begin with FIRST_SEED */
export function runs(numRuns: number, isRest = false) {
  const { SEED, CASE, FIRST_SEED = '200000' } = process.env;
  const seed = Number(SEED ?? (isRest ? FIRST_SEED : 1));
  const one = CASE === undefined ? {} : { path: CASE, numRuns: 1, endOnFailure: true };
  return { seed, numRuns, includeErrorInReport: true, ...one };
}
