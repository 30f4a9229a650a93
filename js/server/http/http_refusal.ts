/** A request that is refused by the rules of HTTP or by `authorize`, before a service is asked. */
export class HttpRefusal extends Error {
  /** Status of the response. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Code in the body of the response. */
  readonly code: string | undefined;

  /** @param message a sentence that strangers may read */
  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    code?: string,
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}
