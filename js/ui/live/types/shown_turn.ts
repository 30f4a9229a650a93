import type { ShownTurn } from '../../../core/history_types.js';

export type { ShownTurn };

/** Turns with several versions, by `invocationId`. */
export type ShownTurns = Readonly<Record<string, ShownTurn>>;
