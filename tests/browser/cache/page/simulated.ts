import type { SeedReport } from './simulation.js';

/** Runs seeds of the simulation in a worker. */
export function simulate(first: number, count: number): Promise<readonly SeedReport[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker('/simulation.js');
    worker.onmessage = ({ data }: MessageEvent<readonly SeedReport[]>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ first, count });
  });
}
