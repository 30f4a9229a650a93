import { reportUncaught } from '../../core/call/diagnostics.js';
import { TimeLimit } from '../../core/call/time_limit.js';
import { parseJson } from '../../values/json/parse.js';
import type { HostAbortSignal, HostResponse } from '../../values/model/host.js';
import { EVENT_STREAM } from '../http/protocol.js';
import { SILENCE_MS, serverSentEvents } from './connection/server_sent_events.js';

/**
 * The response to a message with `run`. If the server sends it as a stream, the answer to the message comes first, and
 * then the reports of its run.
 */
export class RunStream {
  readonly #closed: HostAbortSignal;
  #events: AsyncGenerator<string | undefined, void, undefined> | undefined;
  #limit = new TimeLimit(undefined);

  /** @param closed ends the stream */
  constructor(closed: HostAbortSignal) {
    this.#closed = closed;
  }

  /** Reads the answer: the first event of a stream, or a whole body. An arrow function, because a request takes it. */
  readonly readAnswer = async (response: HostResponse): Promise<string> => {
    // An earlier attempt has failed.
    this.end();
    const { headers } = response;
    if (headers.get('content-type')?.startsWith(EVENT_STREAM) !== true) return response.text();
    this.#limit = new TimeLimit(SILENCE_MS);
    this.#limit.follow(this.#closed);
    const events = serverSentEvents(response, this.#limit.signal);
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) throw new Error('it ended before the answer');
      if (value === undefined) continue;
      this.#events = events;
      return value;
    }
  };

  /** Whether reports may follow the answer. */
  get isOpen(): boolean {
    return this.#events !== undefined && !this.#limit.hasFired;
  }

  /**
   * Calls a function with the data of each report. Resolves when the stream has ended, or was cut. What the function
   * throws is reported as an uncaught error.
   */
  async read(onReport: (data: unknown) => void): Promise<void> {
    try {
      for await (const data of this.#events ?? []) {
        this.#limit.restart();
        if (data === undefined) continue;
        const report = parseJson(data);
        try {
          onReport(report);
        } catch (error) {
          reportUncaught(error);
        }
      }
    } catch {
      // Whoever shows the run falls back to the feed and to the stored events.
    } finally {
      this.end();
    }
  }

  /** Ends the stream. The run goes on. */
  end(): void {
    this.#limit.end();
    this.#limit.abort();
  }
}
