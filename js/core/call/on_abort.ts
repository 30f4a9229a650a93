/**
 * The callbacks of each signal. They share one event listener, because Node warns of more than ten.
 */
const listenersBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a listener when a signal fires. Does not call it if the signal has fired already.
 *
 * @returns a function that stops listening
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const listeners = listenersBySignal.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  const fire = (): void => {
    for (const listener of listeners) {
      // A signal that is not the host's own may fire again.
      listeners.delete(listener);
      listener();
    }
  };
  signal.addEventListener('abort', fire);
  listenersBySignal.set(signal, listeners);
  return listeners;
}
