import type { HostWasmModule } from '../../../values/model/host.js';

/** The source of the wasm module. One of the two functions is enough. */
export interface WasmSource {
  /**
   * Returns the module synchronously, for hosts that have the bytes at hand. Synchronous calls then
   * work at once.
   */
  readonly moduleNow?: () => HostWasmModule;
  /**
   * Returns the module as a promise, for hosts that fetch it or compile it faster in the
   * background.
   */
  readonly module?: () => Promise<HostWasmModule>;
}
