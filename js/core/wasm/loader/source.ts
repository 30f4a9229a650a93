import type * as Glue from '#glue';
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

/** The part of the glue that both builds have. */
export type Rules = Omit<typeof Glue, 'WasmStorage' | 'delete_database'>;

/** A build of the wasm: its part of the glue, and where the wasm is. */
export interface WasmPart {
  readonly glue: Rules;
  readonly source: WasmSource | undefined;
}

/** Where a service that needs only the rules finds them: loaded on demand, or in the build with all. */
export type RulesPlace = (() => Promise<WasmPart>) | WasmPart;
