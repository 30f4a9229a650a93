/** What a played script has shown. */
export interface Played {
  /** The first promise that was broken; absent if none was. */
  readonly problem?: string | undefined;
  readonly trace: readonly string[];
}

/** Plays a script. If its promises never settle, the program ends, and prints the script. */
export async function playOrPrint<Script, Result>(
  script: Script,
  play: (script: Script) => Promise<Result>,
): Promise<Result> {
  const print = (): void => console.log(`SCRIPT='${JSON.stringify(script)}' never ends`);
  process.on('exit', print);
  const played = await play(script);
  process.off('exit', print);
  return played;
}

/**
 * Describes a failure by the shortest script that repeats it.
 *
 * @param seed the seed of the script
 * @param whole the script that has failed
 * @param problem how it has failed
 * @param simpler changes that make a script simpler, tried in this order
 */
export async function describeShortest<Script extends { readonly steps: readonly unknown[] }>(
  seed: number,
  whole: Script,
  problem: string,
  simpler: readonly Partial<Script>[],
  run: (script: Script) => Promise<Played>,
): Promise<string> {
  const kind = kindOf(problem);
  const fails = async (script: Script): Promise<boolean> =>
    kindOf((await run(script)).problem ?? '') === kind;
  let best = whole;
  for (const change of simpler) {
    if (await fails({ ...best, ...change })) best = { ...best, ...change };
  }
  for (let size = best.steps.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < best.steps.length;) {
      const steps = best.steps.toSpliced(from, size);
      if (await fails({ ...best, steps })) best = { ...best, steps };
      else from += size;
    }
  }
  const { problem: shown, trace } = await run(best);
  const script = `SCRIPT='${JSON.stringify(best)}' repeats it`;
  return [`seed ${seed}: ${shown ?? problem}`, ...trace, script].join('\n');
}

/** The first line of a problem without the values in it. The others show values. */
function kindOf(problem: string): string {
  const [sentence = ''] = problem.split('\n', 1);
  return sentence.replaceAll(/\S*[\d"[{]\S*/g, '');
}
