import type * as onDemandReads from './on_demand.js';
import { onDemand, type PartLoader } from '../../core/wasm/loader/part.js';

/** The part of the package that reads more than a session with its stored events. */
export type ReadsLoader = PartLoader<typeof onDemandReads>;

/** Loads that part when a call of any service first uses it. */
export const loadReads: ReadsLoader = onDemand(() => import('./on_demand.js'));
