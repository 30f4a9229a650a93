import type {
  Decide,
  Deleted,
  DeleteRequest,
  Listing,
  ListRequest,
  ReadRequest,
  Rows,
  StorageAdapter,
  WriteRequest,
} from '../storage/adapter.js';

/**
 * An adapter that is made when its first verb is called, so that the service over it can be made at
 * once, and what it takes to make the adapter is loaded only by those who use it.
 *
 * This and not a service that is made later: a service takes what it is given at the moment of the call,
 * which one that has to be waited for could not.
 */
export class LazyAdapter implements StorageAdapter {
  readonly kind: string;
  readonly durable: boolean;
  readonly #make: () => Promise<StorageAdapter>;
  #made: Promise<StorageAdapter> | undefined;

  constructor(
    { kind, durable }: { kind: string; durable: boolean },
    make: () => Promise<StorageAdapter>,
  ) {
    this.kind = kind;
    this.durable = durable;
    this.#make = make;
  }

  async create(request: WriteRequest, decide: Decide): Promise<void> {
    return (await this.#adapter()).create(request, decide);
  }

  async append(request: WriteRequest, decide: Decide): Promise<void> {
    return (await this.#adapter()).append(request, decide);
  }

  async read(request: ReadRequest): Promise<Rows> {
    return (await this.#adapter()).read(request);
  }

  async list(request: ListRequest): Promise<Listing> {
    return (await this.#adapter()).list(request);
  }

  async delete(request: DeleteRequest): Promise<Deleted | void> {
    return (await this.#adapter()).delete(request);
  }

  async close(): Promise<void> {
    // What could not be made needs no closing.
    const adapter = await this.#made?.catch(() => undefined);
    await adapter?.close?.();
  }

  /** A failure is not remembered: it may have been the network that a page loads its pieces over. */
  #adapter(): Promise<StorageAdapter> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }
}
