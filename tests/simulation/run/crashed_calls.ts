/** The pending calls of crashed clients. They end with the simulation, since a promise that never settles is never freed. */
export class CrashedCalls {
  readonly #ends: (() => void)[] = [];

  /** Returns a promise that settles only at the end of the simulation. */
  wait(): Promise<never> {
    return new Promise((_, reject) => {
      this.#ends.push(() => reject(new Error('the client has crashed')));
    });
  }

  /** @param service is closed at the end of the simulation */
  drop(service: { close(): Promise<void> }): void {
    this.#ends.push(() => void service.close().catch(() => undefined));
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await new Promise((done) => setImmediate(done));
  }
}
