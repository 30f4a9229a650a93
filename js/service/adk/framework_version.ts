import { SessionError } from '../../values/errors/errors.js';

/** The version of the framework that `adk-session-wasm/adk` has loaded. The factory loads none. */
let installed: string | undefined;

export function noteFrameworkVersion(version: string): void {
  installed = version;
}

/**
 * Makes the `unsupported` error for a version of the framework that works in another way.
 *
 * @param how what it does in another way: `appends`
 */
export function unknownFramework(how: string): SessionError {
  const framework =
    installed === undefined ? 'this version of @google/adk' : `@google/adk ${installed}`;
  const message = `adk-session-wasm/adk does not know how ${framework} ${how}. Update adk-session-wasm, or use @google/adk 2.0.`;
  return new SessionError('unsupported', message);
}
