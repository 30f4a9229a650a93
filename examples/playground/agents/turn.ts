import type { CompositeSessionKey, NewEvent } from 'adk-session-wasm';
import type { Settings } from '../page/settings.js';

/** A message of the guest, for agents to answer. */
export interface Turn {
  readonly key: CompositeSessionKey;
  readonly text: string;
  readonly settings: Settings;
  /** Gets the pieces of a streamed answer. Throws if the turn is aborted. */
  readonly onPartial: (event: NewEvent) => void;
}
