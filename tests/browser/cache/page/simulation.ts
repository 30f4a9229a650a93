// A worker that runs seeds of the simulation. Its clock and timers are the simulation's.

const channel = new MessageChannel();
const immediates: (() => void)[] = [];
channel.port1.onmessage = () => immediates.shift()?.();
// Node's function, by which the simulation lets all promises continue. It takes it when it is imported.
Object.assign(globalThis, {
  setImmediate(run: () => void) {
    immediates.push(run);
    channel.port2.postMessage(undefined);
  },
});

export interface SeedReport {
  readonly seed: number;
  readonly steps: number;
  /** What is wrong, and the history of the seed. Absent if nothing is. */
  readonly problem?: string;
}

async function runSeed(seed: number): Promise<SeedReport> {
  const { CacheSimulation } = await import('../../../simulation/cache/cache_simulation.js');
  const unhandled: unknown[] = [];
  const note = ({ reason }: PromiseRejectionEvent): void => void unhandled.push(reason);
  addEventListener('unhandledrejection', note);
  const simulation = new CacheSimulation(seed);
  let problem: unknown;
  try {
    await simulation.run();
    problem = unhandled[0];
  } catch (error) {
    problem = error;
  }
  await simulation.end();
  removeEventListener('unhandledrejection', note);
  const steps = simulation.stepCount;
  if (problem === undefined) return { seed, steps };
  return {
    seed,
    steps,
    problem: [problem instanceof Error ? problem.stack : 'unknown', ...simulation.trace].join('\n'),
  };
}

addEventListener('message', ({ data }: MessageEvent<{ first: number; count: number }>) => {
  const run = async (): Promise<void> => {
    const reports: SeedReport[] = [];
    for (let place = 0; place < data.count; place += 1) {
      reports.push(await runSeed(data.first + place));
    }
    postMessage(reports);
  };
  void run();
});
