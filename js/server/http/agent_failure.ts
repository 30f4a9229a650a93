/** The agent threw `cause` before the message was stored. A client gets the code `run_failed`, and `onError` the cause. */
export class AgentFailure extends Error {
  constructor(cause: unknown) {
    super('The agent failed.', { cause });
  }
}
