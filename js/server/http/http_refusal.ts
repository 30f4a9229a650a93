/** A request that is refused by the rules of HTTP or by `authorize`, before a service is asked. */
export class HttpRefusal extends Error {
  /** Status of the response. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param message a sentence that strangers may read */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
