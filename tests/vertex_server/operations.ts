// Long-running operations: what a create or a delete answers with, asked again until it is done.

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
   * @param parent the resource that it is about
   * @param type of the response; without a name it is empty
   * @param polls how often one is told that it is not done; with less than none it is done from the beginning
   * @param work what is done at its end; returns the response
   */
  start(parent: string, type: string, polls: number, work: () => object | ApiError): Operation {
    this.#count += 1;
    const name = `${parent}/operations/${7_000_000_000 + this.#count}`;
    const metadata = { '@type': `${API}.${type}OperationMetadata`, genericMetadata: {} };
    const finish = (): Operation => {
      const response = work();
      if (response instanceof ApiError) {
        // google.rpc.Code, not HTTP's.
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
