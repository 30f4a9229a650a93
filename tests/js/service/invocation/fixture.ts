import assert from 'node:assert/strict';

import {
  type AppendEventRequest,
  type ArtifactService,
  type Event,
  InMemorySessionService,
  Invocation,
  isSessionError,
  openSessionService,
  type Part,
  type Session,
  type SessionError,
  type SessionErrorCode,
  type StateShape,
} from '../../../../js/index.js';
import type { InvocationOptions } from '../../../../js/service/invocation/invocation.js';
import { MapStorage } from '../map_storage.js';

/** A session, what is stored of it, and a way to make the next append fail. */
export interface Fixture {
  service: { appendEvent: (request: AppendEventRequest) => Promise<Event> };
  session: Session;
  stored: () => Promise<{ state: StateShape; events: Event[] }>;
  /** The next append fails with this, before anything is stored. */
  failOnce: (error: Error) => void;
}

/** Opens a service over memory, or over a slow storage. */
export async function newFixture(state: StateShape = {}, storage?: MapStorage): Promise<Fixture> {
  const service =
    storage === undefined ? new InMemorySessionService() : await openSessionService({ storage });
  const session = await service.createSession({ appName: 'app', userId: 'user', state });
  let failure: Error | undefined;
  return {
    service: {
      async appendEvent(request) {
        const error = failure;
        failure = undefined;
        if (error === undefined) return service.appendEvent(request);
        await new Promise((resolve) => setTimeout(resolve, 1));
        throw error;
      },
    },
    session,
    async stored() {
      const read = await service.getSession({
        appName: 'app',
        userId: 'user',
        sessionId: session.id,
      });
      assert.ok(read);
      return read;
    },
    failOnce: (error) => (failure = error),
  };
}

/** Begins an invocation on the session. */
export function invoke(
  { service, session }: Fixture,
  options: Partial<InvocationOptions> = {},
): Invocation {
  return new Invocation({ service, session, ...options });
}

/** The deltas of the stored events, one after the other. */
export async function storedDeltas({ stored }: Fixture): Promise<StateShape[]> {
  const { events } = await stored();
  return events.map(({ actions }) => actions.stateDelta);
}

/** Keeps all versions in a Map, and its requests in `requests`. */
export class MapArtifactService implements ArtifactService {
  readonly requests: object[] = [];
  readonly #files = new Map<string, Part[]>();

  saveArtifact(request: { filename: string; artifact: Part }): Promise<number> {
    this.requests.push(request);
    const versions = this.#files.get(request.filename) ?? [];
    this.#files.set(request.filename, versions);
    return Promise.resolve(versions.push(request.artifact) - 1);
  }

  loadArtifact(request: { filename: string; version?: number }): Promise<Part | undefined> {
    this.requests.push(request);
    return Promise.resolve(this.#files.get(request.filename)?.at(request.version ?? -1));
  }

  listArtifactKeys(request: object): Promise<string[]> {
    this.requests.push(request);
    return Promise.resolve([...this.#files.keys()]);
  }
}

/** The error that `promise` must reject with. */
export async function failure(
  promise: Promise<unknown>,
  code: SessionErrorCode,
): Promise<SessionError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isSessionError(error), String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail('it did not fail');
}

export function throwsCode(code: SessionErrorCode): (error: unknown) => boolean {
  return (error) => isSessionError(error, code);
}

export function text(...texts: string[]): { role: string; parts: Part[] } {
  return { role: 'model', parts: texts.map((part) => ({ text: part })) };
}
