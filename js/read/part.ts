import { after, type MaybePromise } from '../call/call.js';
import { untilAborted } from '../call/time_limit.js';
import { isPlainObject } from '../json/rules.js';
import type { HostAbortSignal } from '../model/host.js';
import { loadPart } from '../wasm/loader/load_part.js';

/**
 * Returns a part of the package: at once if it is loaded, else once it is loaded. A bundler puts it into a file of its
 * own, so a page that does not use it does not load it.
 */
export type Part<Module> = (signal?: HostAbortSignal) => MaybePromise<Module>;

/** Makes a part that is loaded when it is first used. After a failure the next use loads it again. */
export function onDemand<Module>(load: () => Promise<Module>): Part<Module> {
  let loaded: Module | undefined;
  return (signal) =>
    loaded ??
    after(untilAborted(signal, loadPart(load)), (module) => {
      loaded = module;
      return module;
    });
}

/** Copies an array or a plain object of a request that a part may read later. What the caller changes then has no effect. */
export function ownMembers<Value>(value: Value): Value {
  if (Array.isArray(value)) return [...(value as unknown[])] as Value;
  return isPlainObject(value) ? { ...value } : value;
}
