/**
 * Takes the place of the default source in React Native. Its engine Hermes has no WebAssembly, so an
 * import already fails there, with an error that says why.
 */
import { SessionError } from '../../../values/errors/errors.js';

if (typeof WebAssembly === 'undefined') {
  throw new SessionError(
    'wasm_unavailable',
    'adk-session-wasm needs WebAssembly, which Hermes, the engine of React Native, does not have. ' +
      'Keep the sessions on a server, or in a WebView.',
  );
}

export { source } from './inline.js';
