import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, type SessionErrorCode } from '../../values/errors/errors.js';
import { requireFunction } from '../../values/errors/option_values.js';
import type {
  CallDiagnostic,
  Diagnostic,
  StorageDiagnostic,
} from '../../values/model/diagnostic.js';

/** The options of a service that concern its diagnostics. */
interface DiagnosticOptions {
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
}

/** What a call tells about itself while it runs. */
export interface CallFacts {
  retries: number;
  rows?: number;
  groupSize?: number;
}

/** Reports the calls and the lost connections of one service to its option `onDiagnostic`. */
export class Diagnostics {
  readonly #listener: (diagnostic: Diagnostic) => void;
  readonly #storage: { readonly kind: string };

  private constructor(
    listener: (diagnostic: Diagnostic) => void,
    storage: { readonly kind: string },
  ) {
    this.#listener = listener;
    this.#storage = storage;
  }

  /**
   * @returns `undefined` if nobody listens
   * @throws SessionError `invalid_argument` if an option is invalid
   */
  static of(
    { onDiagnostic }: DiagnosticOptions,
    storage: { readonly kind: string },
  ): Diagnostics | undefined {
    if (onDiagnostic === undefined) return undefined;
    requireFunction('onDiagnostic', onDiagnostic);
    return new Diagnostics(onDiagnostic, storage);
  }

  /**
   * Begins to measure a call.
   *
   * @param facts filled by the call until it settles
   */
  begin(method: CallDiagnostic['method'], facts: CallFacts) {
    const start = performance.now();
    const report = (result: CallFacts & { readonly code?: SessionErrorCode }): void => {
      const durationMs = performance.now() - start;
      const { kind: storage } = this.#storage;
      this.#report({ kind: 'call', storage, method, durationMs, ...result });
    };
    return {
      succeed: (result: unknown): void => {
        const rows = facts.rows ?? rowsOf(method, result);
        report({ ...(rows !== undefined && { rows }), ...facts });
      },
      fail: (error: unknown): void => report({ retries: facts.retries, code: codeOf(error) }),
    };
  }

  /** Reports what failed outside of a call. */
  tell(kind: StorageDiagnostic['kind'], error: unknown): void {
    const message = kind === 'channel' ? { message: messageOf(error) } : {};
    this.#report({ kind, storage: this.#storage.kind, code: codeOf(error), ...message });
  }

  /** A listener that throws must not fail the call. */
  #report(diagnostic: Diagnostic): void {
    try {
      this.#listener(diagnostic);
    } catch (error) {
      reportUncaught(error);
    }
  }
}

export function codeOf(error: unknown): SessionErrorCode {
  return isSessionError(error) ? error.code : 'internal';
}

/** Returns how many events or sessions a call has returned. */
function rowsOf(method: CallDiagnostic['method'], result: unknown): number | undefined {
  switch (method) {
    case 'getSession':
    case 'getOrCreateSession':
    case 'listEvents':
      return (result as { readonly events: readonly unknown[] } | undefined)?.events.length ?? 0;
    case 'listSessions':
      return (result as { readonly sessions: readonly unknown[] }).sessions.length;
    default:
      return undefined;
  }
}

/** Reports an error as the host reports errors of event listeners. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') {
    reportError(error);
    return;
  }
  // Node has no `reportError`; throwing in a timer makes it an uncaught error there too.
  setTimeout(() => {
    throw error;
  });
}
