import { ownMembers } from '../members/own.js';

/** What listens to a signal. One listener of the signal serves all: Node warns of more than ten. */
const LISTENERS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a listener when a signal fires, unless it has fired already.
 *
 * @returns stops listening
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const listeners = LISTENERS.get(signal) ?? listenTo(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const listeners = new Set<() => void>();
  const fire = (): void => {
    for (const listener of listeners) listener();
  };
  signal.addEventListener('abort', fire, ownMembers({ once: true }));
  LISTENERS.set(signal, listeners);
  return listeners;
}
