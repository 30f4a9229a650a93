import { requireArtifacts } from '../../core/core_of.js';
import { givenService } from '../../core/call/given_service.js';
import { SessionError } from '../../values/errors/errors.js';
import { objectUrlType } from '../../values/model/values/media_type.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';

/** A version of a file, as a page shows it. */
export interface ShownArtifact {
  /** `loading`: it is being opened. `ready`. `failed`: see `error`. */
  readonly status: 'loading' | 'ready' | 'failed';
  /** An object URL, which is valid until the file is no longer shown; `undefined` until the file is open. */
  readonly url: string | undefined;
  /** Why it cannot be opened: `not_found` if it does not exist. */
  readonly error: unknown;
}

/** Names a file of a session: one of a message, from `filesOf`, or any other. */
export interface ShownFile {
  /** The name of the artifact. */
  readonly name: string;
  /** Default: the newest. */
  readonly version?: number | undefined;
}

/** Names a file, and the session that has it. */
export interface ShownFileRequest extends CompositeSessionKey {
  /** The name of the artifact. */
  readonly filename: string;
  /** Default: the newest. */
  readonly version?: number | undefined;
}

/** What is shown at first, and on a server. */
export const LOADING_ARTIFACT: ShownArtifact = {
  status: 'loading',
  url: undefined,
  error: undefined,
};

/**
 * Opens a version of a file, for an `img`, a `video` or a link. Whoever shows it in React or Vue has `useArtifact`.
 *
 * The URL of a picture, a sound, a video, a PDF or a plain text has its type, without parameters but the `charset` of a
 * text. That of any other file, HTML and SVG included, has the type `application/octet-stream`: a browser downloads it, and
 * never runs it as a document of the page.
 *
 * @param request the session and the file; without `version`, the newest
 * @param show is called with the file: at once, and once it is open or has failed
 * @returns a function that ends it: it revokes the URL, and `show` is not called again
 * @throws SessionError `invalid_argument` if there is no service
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { showArtifact } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService({ artifacts: true });
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * await service.createSession(key);
 * const stop = showArtifact(service, { ...key, filename: 'tea.png' }, ({ url, error }) => {
 *   console.log(url ?? error);
 * });
 * stop();
 * ```
 */
export function showArtifact<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  request: ShownFileRequest,
  show: (artifact: ShownArtifact) => void,
): () => void {
  const given = givenService(service, []);
  const stopping = new AbortController();
  let url: string | undefined;
  const open = async (): Promise<void> => {
    const { signal } = stopping;
    const { version, ...file } = request;
    const ofVersion = version === undefined ? file : { ...file, version };
    const blob = await requireArtifacts(await given()).open({ ...ofVersion, signal });
    if (blob === undefined) {
      throw new SessionError('not_found', `There is no file "${request.filename}".`);
    }
    if (signal.aborted) return;
    url = URL.createObjectURL(new Blob([blob], { type: objectUrlType(blob.type) }));
    show({ status: 'ready', url, error: undefined });
  };
  show(LOADING_ARTIFACT);
  open().catch((error: unknown) => {
    if (!stopping.signal.aborted) show({ status: 'failed', url: undefined, error });
  });
  return () => {
    stopping.abort();
    if (url !== undefined) URL.revokeObjectURL(url);
  };
}
