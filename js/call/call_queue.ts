/** Runs a call after the calls before it. */
export type CallQueue = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** Returns a queue. A call begins when the one before it has settled, whether it failed or not. */
export function callQueue(): CallQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const result = last.then(call);
    last = result.catch(() => undefined);
    return result;
  };
}
