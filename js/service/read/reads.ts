import type * as onDemandReads from './on_demand.js';
import { onDemand, type ChunkLoader } from '../../core/wasm/loader/chunk.js';

/** The part of the package that reads more than a session with its stored events. */
export type ReadsLoader = ChunkLoader<typeof onDemandReads>;

/** Loads that part when a call of any service first uses it. */
export const loadReads: ReadsLoader = onDemand(() => import('./on_demand.js'));
