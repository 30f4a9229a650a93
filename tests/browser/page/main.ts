import { type Result, type Results, runAll, runDatabase } from './suite.js';

/** The results by the place of the suite. */
export interface Places<R = Results> {
  page: R;
  worker: R;
}

async function inWorker<R>(): Promise<R> {
  const worker = new Worker(`/worker.js${location.search}`, { type: 'module' });
  const results = await new Promise<R>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<R>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
  });
  worker.terminate();
  return results;
}

async function run(): Promise<Places> {
  return { page: await runAll(), worker: await inWorker() };
}

/** Runs both concurrently, because they only wait for the disk. */
async function runOnDatabases(): Promise<Places<Result[]>> {
  const [page, worker] = await Promise.all([runDatabase('page'), inWorker<Result[]>()]);
  return { page, worker };
}

(globalThis as { report?: Promise<unknown> }).report =
  location.search === '?database' ? runOnDatabases() : run();
