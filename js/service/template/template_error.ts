/**
 * The errors of a template that cannot be rendered. Rust makes the messages and the near misses
 * (see `src/core/template/error.rs`), so that both languages give the same text.
 */

import { artifactMessage, describeMissing } from '../../core/wasm/core.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { PrintedPlaceholder } from './scanner.js';

/** Makes one `missing_variable` error for all slots without a value. */
export function missingVariableError(
  text: string,
  slots: readonly PrintedPlaceholder[],
  keys: string[],
): SessionError {
  const indices = Uint32Array.from(slots, (slot) => slot.index);
  const { message, missing } = describeMissing(text, indices, keys);
  return new SessionError('missing_variable', message, { missing });
}

/** The error for a template that names an artifact in a context without an artifact service. */
export function artifactServiceMissing(text: string, slot: PrintedPlaceholder): SessionError {
  return new SessionError('artifact_service_missing', artifactMessage(text, slot.index, false), {
    key: `artifact.${slot.name}`,
  });
}

/**
 * The error for an artifact that could not be loaded. An artifact that does not exist is missing,
 * not failed.
 */
export function artifactLoadFailed(
  text: string,
  slot: PrintedPlaceholder,
  cause: unknown,
): SessionError {
  // A context without an artifact service reports that only when it is called.
  if (isSessionError(cause, 'artifact_service_missing')) return artifactServiceMissing(text, slot);
  return new SessionError('storage_failed', artifactMessage(text, slot.index, true), {
    key: `artifact.${slot.name}`,
    cause,
  });
}
