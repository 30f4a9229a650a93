/** The agent of a run threw the cause before the message was stored. A client gets the code `run_failed`. */
export class AgentFailure extends Error {
  constructor(cause: unknown) {
    super('The agent failed.', { cause });
  }
}
