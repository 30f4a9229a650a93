import { SessionError } from '../../../values/errors/errors.js';
import { coreOf } from '../../../core/core_of.js';

/** Returns a function that throws `aborted` when a cache has erased its local data since now. */
export function forgottenCheck(service: object): () => void {
  const epochs = coreOf(service)?.epochs;
  const present = epochs?.present();
  return () => {
    if (epochs?.present() !== present) throw forgottenError();
  };
}

export function forgottenError(): SessionError {
  const message =
    'The local data was erased by forget. Call reload, or make another store, after the next login.';
  return new SessionError('aborted', message);
}
