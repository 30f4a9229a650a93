import { SessionError } from '../../errors/errors.js';
import { CORE } from '../../model/initial_state.js';
import type { Epochs } from '../../service/service_options.js';

/** Returns what a cache tells of erasures of its local data; `undefined` for another service. */
export function epochsOf(service: object): Epochs | undefined {
  return (service as { readonly [CORE]?: { readonly epochs?: Epochs | undefined } })[CORE]?.epochs;
}

/** Returns a function that throws `aborted` when a cache has erased its local data since now. */
export function keptSince(service: object): () => void {
  const epochs = epochsOf(service);
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
