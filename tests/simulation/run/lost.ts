/** What clients wait for that have crashed. It ends with the simulation, since what never ends is never freed. */
export class Lost {
  readonly #ends: (() => void)[] = [];

  /** A promise that nobody sees settle. */
  wait(): Promise<never> {
    return new Promise((_, reject) => {
      this.#ends.push(() => reject(new Error('the client has crashed')));
    });
  }

  /** @param service ends with the simulation as well */
  drop(service: { close(): Promise<void> }): void {
    this.#ends.push(() => void service.close().catch(() => undefined));
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await new Promise((done) => setImmediate(done));
  }
}
