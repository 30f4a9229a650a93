import { runAll, type Results } from './suite.js';

/** Where the suite ran → what came of it. */
export interface Places {
  page: Results;
  worker: Results;
}

async function inWorker(): Promise<Results> {
  const worker = new Worker('/worker.js', { type: 'module' });
  const results = await new Promise<Results>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Results>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
  });
  worker.terminate();
  return results;
}

async function run(): Promise<Places> {
  return { page: await runAll(), worker: await inWorker() };
}

(globalThis as { report?: Promise<Places> }).report = run();
