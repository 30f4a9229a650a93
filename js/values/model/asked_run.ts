/** The run that a write asks for: the server's agent answers the message that is stored. */
export interface AskedRun {
  /** Whether the agent should send partial events of its answers. Default: it should not. */
  readonly streaming?: boolean | undefined;
}
