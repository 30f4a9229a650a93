/** The run of a session, or what became of its newest message. */
export interface SessionRun {
  /**
   * `queued`: the message waits for its run. `running`: an agent answers, in this tab, in another one or on the server. `failed`: the agent
   * threw, see `error`. `cancelled`. `unanswered`: the newest message has no answer, and nothing runs: the page was closed,
   * for example. `regenerate` answers again after the last three.
   */
  readonly status: 'queued' | 'running' | 'failed' | 'cancelled' | 'unanswered';
  /** The id of the message. */
  readonly messageId: string;
  /**
   * Why the run failed: a `SessionError`, with the code `run_failed` and the `cause` if the agent threw something else. Another
   * tab has no cause.
   */
  readonly error?: unknown;
}
