/**
 * Why a template could not be rendered. The wording and the near misses are Rust's (see
 * `src/instruction/error.rs`), so that both languages say the same.
 */

import { artifactMessage, describeMissing } from '../wasm/core.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import type { Slot } from './scanner.js';

/** One `missing_variable` for all slots that have no value. */
export function missingError(text: string, slots: readonly Slot[], keys: string[]): SessionError {
  const indices = Uint32Array.from(slots, (slot) => slot.index);
  const { message, missing } = describeMissing(text, indices, keys);
  return new SessionError('missing_variable', message, { missing });
}

/** An artifact is named, and nobody can be asked for it. */
export function noArtifactService(text: string, slot: Slot): SessionError {
  return new SessionError('artifact_service_missing', artifactMessage(text, slot.index, false), {
    key: `artifact.${slot.name}`,
  });
}

/** An artifact could not be loaded. One that does not exist is missing, not failed. */
export function artifactFailed(text: string, slot: Slot, cause: unknown): SessionError {
  // A context without a service says so when it is asked, no earlier.
  if (isSessionError(cause, 'artifact_service_missing')) return noArtifactService(text, slot);
  return new SessionError('storage_failed', artifactMessage(text, slot.index, true), {
    key: `artifact.${slot.name}`,
    cause,
  });
}
