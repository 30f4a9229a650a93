import type { SessionError } from '../errors/errors.js';
import type {
  Decide,
  StorageAdapter,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../storage/adapter.js';
import type { Deleted, Listing, PageRows, Rows, StorageKey } from '../storage/rows.js';
import { memberOf } from '../members/own.js';
import type { StorageCall } from '../model/diagnostic.js';
import type {
  OwnAdapter,
  OwnDescribeRequest,
  OwnListAfterRequest,
  OwnListRequest,
  OwnRows,
  OwnWriteRequest,
} from '../storage/own_adapter.js';

/**
 * An adapter that is made when its first verb is called. So the service over it can be made at once, and the
 * adapter's code is loaded only when it is used.
 *
 * The adapter is lazy rather than the service: a service takes its arguments at the moment of the call, which
 * a service behind a promise could not.
 */
export class LazyAdapter implements OwnAdapter {
  readonly kind: string;
  readonly durable: boolean;
  onConnectionLost: OwnAdapter['onConnectionLost'];
  readonly #open: () => Promise<OwnAdapter>;
  #opening: Promise<OwnAdapter> | undefined;
  #adapter: OwnAdapter | undefined;

  constructor(
    { kind, durable }: { kind: string; durable: boolean },
    open: () => Promise<OwnAdapter>,
  ) {
    this.kind = kind;
    this.durable = durable;
    this.#open = open;
  }

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#call((adapter) => adapter.create(request, decide));
  }

  append(request: OwnWriteRequest, decide: Decide): void | Promise<void> {
    return this.#call((adapter) => adapter.append(request, decide));
  }

  /** Databases do, and Vertex AI does not. */
  get truncates(): boolean {
    return this.kind !== 'vertexai';
  }

  /** Absent until the adapter is made, and if the adapter has none. */
  get appendMany(): StorageAdapter['appendMany'] {
    const adapter = this.#adapter;
    if (adapter === undefined || memberOf(adapter, 'appendMany') === undefined) return undefined;
    return (writes) => adapter.appendMany?.(writes);
  }

  /** Only Vertex AI has no transactions, and its kind is known before the adapter is made. */
  get createInSteps(): OwnAdapter['createInSteps'] {
    if (this.kind !== 'vertexai') return undefined;
    return async (...parameters) => (await this.#load()).createInSteps?.(...parameters);
  }

  describe(request: OwnDescribeRequest): boolean | Promise<boolean> {
    return this.#call((adapter) => adapter.describe(request));
  }

  read(request: StorageReadRequest): Rows | Promise<Rows> {
    return this.#call((adapter) => adapter.read(request));
  }

  readPage(request: StoragePageRequest): PageRows | Promise<PageRows> {
    return this.#call((adapter) => adapter.readPage(request));
  }

  readParsed(request: StorageReadRequest): OwnRows | Promise<OwnRows> {
    return this.#call((adapter) => adapter.readParsed(request));
  }

  list(request: OwnListRequest): Listing | Promise<Listing> {
    return this.#call((adapter) => adapter.list(request));
  }

  listAfter(request: OwnListAfterRequest): Listing | Promise<Listing> {
    return this.#call((adapter) => adapter.listAfter(request));
  }

  delete(request: StorageDeleteRequest): Deleted | void | Promise<Deleted | void> {
    return this.#call((adapter) => adapter.delete(request));
  }

  deleteUnchanged(
    request: StorageDeleteUnchangedRequest,
  ): boolean | Deleted | Promise<boolean | Deleted> {
    return this.#call((adapter) => adapter.deleteUnchanged(request));
  }

  explain(error: SessionError, key: Required<StorageKey>): SessionError {
    return this.#adapter?.explain(error, key) ?? error;
  }

  async open(call: StorageCall): Promise<void> {
    await this.#call((adapter) => adapter.open(call));
  }

  closing(timeoutMs?: number): void {
    const adapter = this.#adapter;
    if (adapter !== undefined) memberOf(adapter, 'closing')?.call(adapter, timeoutMs);
  }

  async close(): Promise<void> {
    // An adapter that could not be made needs no closing.
    const adapter = await this.#opening?.catch(() => undefined);
    await adapter?.close?.();
  }

  #call<T>(verb: (adapter: OwnAdapter) => T | Promise<T>): T | Promise<T> {
    return this.#adapter === undefined ? this.#load().then(verb) : verb(this.#adapter);
  }

  /**
   * Makes the adapter once. A failure is not cached, since it may be a network error while a page loads the
   * code.
   */
  #load(): Promise<OwnAdapter> {
    this.#opening ??= this.#open().then(
      (adapter) => {
        adapter.onConnectionLost = this.onConnectionLost;
        return (this.#adapter = adapter);
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }
}
