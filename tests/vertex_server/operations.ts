// Long-running operations: the results of creates and deletes, which the client polls until they are done.

import { ApiError } from './status.js';

const API = 'type.googleapis.com/google.cloud.aiplatform.v1beta1';

export interface Operation {
  readonly name: string;
  readonly metadata: unknown;
  readonly done?: true;
  readonly response?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export class Operations {
  readonly #unfinished = new Map<string, { polls: number; finish: () => Operation }>();
  readonly #finished = new Map<string, Operation>();
  #count = 0;

  /**
   * @param parent the resource of the operation
   * @param type the type of the operation
   * @param polls the number of polls that return an unfinished operation; below 0 it is done immediately
   * @param work runs at the end of the operation; returns the response
   */
  start(parent: string, type: string, polls: number, work: () => object | ApiError): Operation {
    this.#count += 1;
    const name = `${parent}/operations/${7_000_000_000 + this.#count}`;
    const metadata = { '@type': `${API}.${type}OperationMetadata`, genericMetadata: {} };
    const finish = (): Operation => {
      const response = work();
      if (response instanceof ApiError) {
        // A google.rpc.Code, not an HTTP status.
        return { name, metadata, done: true, error: { code: 13, message: response.message } };
      }
      return { name, metadata, done: true, response };
    };
    if (polls < 0) {
      const done = finish();
      this.#finished.set(name, done);
      return done;
    }
    this.#unfinished.set(name, { polls, finish });
    return { name, metadata };
  }

  get(name: string): Operation {
    const unfinished = this.#unfinished.get(name);
    if (unfinished !== undefined && unfinished.polls > 0) {
      unfinished.polls -= 1;
      return { name, metadata: {} };
    }
    if (unfinished !== undefined) {
      this.#unfinished.delete(name);
      this.#finished.set(name, unfinished.finish());
    }
    const finished = this.#finished.get(name);
    if (finished === undefined) throw new ApiError('NOT_FOUND', `Operation ${name} not found.`);
    return finished;
  }
}

export function typed(type: string, message: object): object {
  return { '@type': `${API}.${type}`, ...message };
}

export const EMPTY = { '@type': 'type.googleapis.com/google.protobuf.Empty' };
