import { isSessionError, type SessionErrorCode } from '../errors/errors.js';
import type {
  CallDiagnostic,
  Diagnostic,
  ServiceMethod,
  StorageDiagnostic,
} from '../model/diagnostic.js';
import { requireBoolean, requireFunction } from '../errors/option_values.js';
import { reportUncaught } from './uncaught.js';

/** The options of a service that concern its diagnostics. */
interface DiagnosticOptions {
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  readonly diagnosticIds?: boolean | undefined;
}

/** What a call tells about itself while it runs. */
export interface CallFacts {
  retries: number;
  rows?: number;
  groupSize?: number;
}

type Ids = Pick<CallDiagnostic, 'appName' | 'userId' | 'sessionId'>;

/** Reports the calls and the lost connections of one service to its option `onDiagnostic`. */
export class Diagnostics {
  readonly #listener: (diagnostic: Diagnostic) => void;
  readonly #withIds: boolean;
  readonly #storage: { readonly kind: string };

  private constructor(
    listener: (diagnostic: Diagnostic) => void,
    withIds: boolean,
    storage: { readonly kind: string },
  ) {
    this.#listener = listener;
    this.#withIds = withIds;
    this.#storage = storage;
  }

  /**
   * @returns `undefined` if nobody listens
   * @throws SessionError `invalid_argument` if an option is invalid
   */
  static of(
    { onDiagnostic, diagnosticIds = false }: DiagnosticOptions,
    storage: { readonly kind: string },
  ): Diagnostics | undefined {
    requireBoolean('diagnosticIds', diagnosticIds);
    if (onDiagnostic === undefined) return undefined;
    requireFunction('onDiagnostic', onDiagnostic);
    return new Diagnostics(onDiagnostic, diagnosticIds, storage);
  }

  /**
   * Begins to measure a call.
   *
   * @param facts filled by the call until it settles
   */
  begin(method: ServiceMethod, facts: CallFacts) {
    const start = performance.now();
    let ids: Ids | undefined;
    const report = (result: CallFacts & Ids & { readonly code?: SessionErrorCode }): void => {
      const durationMs = performance.now() - start;
      const { kind: storage } = this.#storage;
      this.#report({ kind: 'call', storage, method, durationMs, ...result });
    };
    return {
      /** Takes the ids of the request, before anyone can change it. */
      take: (request: object): void => {
        if (this.#withIds) ids = idsOf(request);
      },
      succeed: (result: unknown): void => {
        const created =
          method === 'createSession' && this.#withIds ? idsOf({ session: result }) : {};
        const rows = facts.rows ?? rowsOf(method, result);
        report({ ...(rows !== undefined && { rows }), ...facts, ...ids, ...created });
      },
      fail: (error: unknown): void =>
        report({ retries: facts.retries, ...ids, code: codeOf(error) }),
    };
  }

  /** Reports what failed outside of a call. */
  tell(kind: StorageDiagnostic['kind'], error: unknown): void {
    this.#report({ kind, storage: this.#storage.kind, code: codeOf(error) });
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

/** The ids in a request, or in its handle. Others than strings are refused by the call itself. */
function idsOf(request: object): Ids {
  const { session, ...given } = request as {
    readonly session?: unknown;
    readonly [id: string]: unknown;
  };
  const { id, appName, userId } = Object(session ?? given) as Readonly<Record<string, unknown>>;
  const ids = { appName, userId, sessionId: session === undefined ? given.sessionId : id };
  return Object.fromEntries(Object.entries(ids).filter(([, value]) => typeof value === 'string'));
}

/** The events or sessions that a call returned. */
function rowsOf(method: ServiceMethod, result: unknown): number | undefined {
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
