import type { BuiltInAdapter } from './built_in_adapter.js';

/** A verb that every adapter of this package has. */
type Verb =
  | 'create' | 'append' | 'describe' | 'read' | 'readPage' | 'readParsed' | 'list' | 'delete'
  | 'deleteUnchanged' | 'open'; // prettier-ignore

/**
 * An adapter that is made when its first verb is called. So the service over it can be made at once, and the
 * adapter's code is loaded only when it is used.
 *
 * The adapter is lazy rather than the service: a service takes its arguments at the moment of the call, which
 * a service behind a promise could not.
 */
export class LazyAdapter implements BuiltInAdapter {
  readonly kind: string;
  readonly durable: boolean;
  onConnectionLost: BuiltInAdapter['onConnectionLost'];
  readonly #open: () => Promise<BuiltInAdapter>;
  #opening: Promise<BuiltInAdapter> | undefined;
  #adapter: BuiltInAdapter | undefined;

  constructor(
    { kind, durable }: { kind: string; durable: boolean },
    open: () => Promise<BuiltInAdapter>,
  ) {
    this.kind = kind;
    this.durable = durable;
    this.#open = open;
  }

  readonly create = this.#verb('create');
  readonly append = this.#verb('append');
  readonly describe = this.#verb('describe');
  readonly read = this.#verb('read');
  readonly readPage = this.#verb('readPage');
  readonly readParsed = this.#verb('readParsed');
  readonly list = this.#verb('list');
  readonly delete = this.#verb('delete');
  readonly deleteUnchanged = this.#verb('deleteUnchanged');
  readonly open = this.#verb('open');

  /** Databases do, and Vertex AI does not. */
  get keepsOperations(): boolean {
    return this.kind !== 'vertexai';
  }

  /** Databases can, and Vertex AI cannot. */
  get changedSince(): BuiltInAdapter['changedSince'] {
    if (this.kind === 'vertexai') return undefined;
    return async (request) => (await this.#load()).changedSince!(request);
  }

  /** Only Vertex AI does. */
  get readsBack(): boolean {
    return this.kind === 'vertexai';
  }

  /** Absent until the adapter is made, and if the adapter has none. */
  get appendMany(): BuiltInAdapter['appendMany'] {
    const adapter = this.#adapter;
    if (adapter?.appendMany === undefined) return undefined;
    return (writes) => adapter.appendMany?.(writes);
  }

  /** Only Vertex AI has no transactions, and its kind is known before the adapter is made. */
  get createInSteps(): BuiltInAdapter['createInSteps'] {
    if (this.kind !== 'vertexai') return undefined;
    return async (...parameters) => (await this.#load()).createInSteps?.(...parameters);
  }

  closing(timeoutMs?: number): void {
    // An adapter that is still being made gets it too, after the calls that wait for it.
    this.#opening?.then((adapter) => adapter.closing?.(timeoutMs)).catch(() => undefined);
  }

  async close(): Promise<void> {
    // An adapter that could not be made needs no closing.
    const adapter = await this.#opening?.catch(() => undefined);
    await adapter?.close?.();
  }

  #verb<Name extends Verb>(name: Name): BuiltInAdapter[Name] {
    const run = (...parameters: unknown[]): unknown => {
      const call = (adapter: BuiltInAdapter) =>
        Reflect.apply(adapter[name], adapter, parameters) as unknown;
      return this.#adapter === undefined ? this.#load().then(call) : call(this.#adapter);
    };
    return run as BuiltInAdapter[Name];
  }

  /**
   * Makes the adapter once. A failure is not cached, since it may be a network error while a page loads the
   * code.
   */
  #load(): Promise<BuiltInAdapter> {
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
