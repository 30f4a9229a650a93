/**
 * Loads a build of the wasm when it is first needed: all, or the rules alone. An import loads nothing, and no init call
 * is needed. A failed load is not cached: the next call tries again.
 */
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { Rules, RulesPlace, WasmPart, WasmSource } from './loader/source.js';
import { newTextDecoder, textEncoder } from './text_coders.js';

/** A build of the wasm, with its instance. */
export class Build {
  /** Of the rules, once it is loaded. */
  glue: Rules | undefined;
  isLoaded = false;
  /** The cause of the instance's death. Its data is lost, so no call may reach a service in it. */
  death: { readonly cause: unknown } | undefined;
  /**
   * An error that an export threw, until the check whether the instance died of it has run. Near the
   * end of the stack, that check itself may overflow.
   */
  suspicion: { readonly thrown: unknown } | undefined;
  /** The name of an export that only this build has. */
  readonly #mark: string;
  #source: WasmSource | undefined;
  #loading: Promise<void> | undefined;

  constructor(glue: Rules | undefined, mark: string, source: WasmSource | undefined) {
    this.glue = glue;
    this.#mark = mark;
    this.#source = source;
  }

  /** Whether a load has begun and not failed. */
  get isBegun(): boolean {
    return this.isLoaded || this.#loading !== undefined;
  }

  /** Sets the source of the wasm, in place of the default one. */
  provide(source: WasmSource): void {
    this.#source = source;
    // A load belongs to its source: later calls must not get the failure of an earlier source.
    this.#loading = undefined;
  }

  /** Loads it if it is not loaded; see {@link loadWasm}. */
  load(atOnce = false): Promise<void> | undefined {
    if (this.isLoaded && (atOnce || this.#loading === undefined)) return undefined;
    const source = this.#source;
    const moduleNow = source?.moduleNow;
    if (moduleNow !== undefined && (atOnce || source?.module === undefined)) {
      this.#loadNow(moduleNow);
      return undefined;
    }
    // Even if a synchronous call has loaded the wasm meanwhile: new calls must not overtake those
    // that wait.
    this.#loading ??= this.#loadLater(source);
    return this.#loading;
  }

  /** Fails with `not_loaded` if the wasm has to be awaited. */
  require(): void {
    const wait = this.isLoaded ? undefined : this.load(true);
    if (wait === undefined) return;
    // The load continues, and later calls find the wasm loaded. Only this call fails.
    wait.catch(() => undefined);
    throw notLoaded();
  }

  #loadNow(give: () => WebAssembly.Module): void {
    try {
      this.#start(give());
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  #loadLater(from: WasmSource | undefined): Promise<void> {
    const loaded = this.#fetchModule(from);
    const forget = (): void => {
      if (this.#loading === loaded) this.#loading = undefined;
    };
    // Registered before any call waits, so that `#loading` is cleared right before the waiting calls
    // go on, in order. Until then no new call finds the wasm loaded and overtakes them.
    loaded.then(forget, forget);
    return loaded;
  }

  async #fetchModule(from: WasmSource | undefined): Promise<void> {
    try {
      if (from?.module === undefined) throw new Error('no source of it was given');
      const module = await from.module();
      // A synchronous call may have made an instance meanwhile, which holds the data of services in
      // memory.
      if (!this.isLoaded) this.#start(module);
    } catch (cause) {
      if (!this.isLoaded) throw unavailable(cause);
    }
  }

  #start(module: WebAssembly.Module): void {
    // The glue keeps its first instance, even if the module is not this package's wasm.
    const isOurs = WebAssembly.Module.exports(module).some(({ name }) => name === this.#mark);
    if (!isOurs) throw new Error('it is the module of something else');
    this.glue!.setTextCoders(newTextDecoder, textEncoder());
    this.glue!.initSync({ module });
    this.isLoaded = true;
  }
}

/** The build with all, if it is at hand. */
let all: Build | undefined;
/** The rules alone, once a service has loaded them because the page does not have {@link all}. */
let rules: Build | undefined;

/**
 * Notes that the build with all is at hand. It serves every service from now on, unless the rules are there already.
 */
export function provideAll({ glue, source }: WasmPart): Build {
  return (all ??= new Build(glue, 'wasmstorage_memory', source));
}

function rulesBy(load: () => Promise<WasmPart>): Build {
  const module = async (): Promise<WebAssembly.Module> => {
    const { glue, source } = await load();
    build.glue = glue;
    return source!.module!();
  };
  const build = new Build(undefined, 'drivenwrite_decide', { module });
  return build;
}

/**
 * Loads the wasm if it is not loaded: with a promise if the source can, else synchronously.
 *
 * @param atOnce loads synchronously if the source can. For services in memory: their calls are done
 *   when they return, and asynchronous calls must not fall behind later synchronous ones.
 * @param place given by a service that needs only the rules: they are loaded if the page does not have all
 * @returns a promise if the load has to be awaited; else `undefined`
 * @throws SessionError `wasm_unavailable`; the promise rejects with the same
 */
export function loadWasm(atOnce = false, place?: RulesPlace): Promise<void> | undefined {
  if (typeof place === 'object') provideAll(place);
  if (typeof place !== 'function' || (all !== undefined && rules?.isBegun !== true)) {
    return all?.load(atOnce);
  }
  return (rules ??= rulesBy(place)).load();
}

/** Returns the build that serves calls of the rules. @throws SessionError `not_loaded`, `wasm_unavailable` */
export function requireRules(): Build {
  if (all?.isLoaded !== true && rules?.isLoaded === true) return rules;
  if (all === undefined) throw notLoaded();
  all.require();
  return all;
}

/** Returns the build that has made the write, which stays with it. */
export function buildOf(write: object): Build {
  const { DrivenWrite } = rules?.glue ?? {};
  return DrivenWrite !== undefined && write instanceof DrivenWrite ? rules! : requireRules();
}

function notLoaded(): SessionError {
  const message =
    'The WebAssembly module is not there yet: await any method of a service, or loadWasm(), first.';
  return new SessionError('not_loaded', message);
}

function unavailable(cause: unknown): SessionError {
  if (isSessionError(cause)) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isPolicy =
    /unsafe-eval|Content Security Policy|blocked by CSP|disallowed by embedder/i.test(reason);
  let advice = 'the next call tries again';
  if (typeof WebAssembly === 'undefined') advice = 'use a host that has WebAssembly';
  else if (isPolicy) advice = "allow it with 'wasm-unsafe-eval' in the page's script-src policy";
  return new SessionError(
    'wasm_unavailable',
    `The WebAssembly module could not be loaded: ${reason}; ${advice}.`,
    { cause },
  );
}
