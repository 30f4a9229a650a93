import assert from 'node:assert/strict';

import { isSessionError, type SessionError, type SessionErrorCode } from '../../../js/errors.js';
import type { Event, Part } from '../../../js/event.js';
import type { ArtifactService } from '../../../js/invocation/artifact_service.js';
import type { AppendEventRequest, Session, StateShape } from '../../../js/session.js';
import { StandInService } from './stand_in_service.js';

/** A session, what is stored of it, and a way to make the next append fail. */
export interface Fixture {
  service: { appendEvent(request: AppendEventRequest): Promise<Event> };
  session: Session;
  stored(): Promise<{ state: StateShape; events: Event[] }>;
  /** The next append fails with this, before anything is stored. */
  failOnce(error: Error): void;
}

export async function newFixture(state: StateShape = {}): Promise<Fixture> {
  const service = new StandInService();
  let failure: Error | undefined;
  return {
    service: {
      async appendEvent(request) {
        const error = failure;
        failure = undefined;
        if (error !== undefined) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          throw error;
        }
        return service.appendEvent(request);
      },
    },
    session: service.session(state),
    stored: async () => service.stored,
    failOnce: (error) => (failure = error),
  };
}

/** The deltas of the stored events, one after the other. */
export async function storedDeltas({ stored }: Fixture): Promise<StateShape[]> {
  const { events } = await stored();
  return events.map(({ actions }) => actions.stateDelta);
}

/** Keeps all versions in a Map; what it was asked is in `requests`. */
export class MapArtifactService implements ArtifactService {
  readonly requests: object[] = [];
  readonly #files = new Map<string, Part[]>();

  async saveArtifact(request: { filename: string; artifact: Part }): Promise<number> {
    this.requests.push(request);
    const versions = this.#files.get(request.filename) ?? [];
    this.#files.set(request.filename, versions);
    return versions.push(request.artifact) - 1;
  }

  async loadArtifact(request: { filename: string; version?: number }): Promise<Part | undefined> {
    this.requests.push(request);
    return this.#files.get(request.filename)?.at(request.version ?? -1);
  }

  async listArtifactKeys(request: object): Promise<string[]> {
    this.requests.push(request);
    return [...this.#files.keys()];
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
