import { backgroundTimer } from '../../core/call/lifetime.js';
import type { AskedRun } from '../runs/run_messages.js';
import type { ServerRuns } from '../runs/server_runs.js';
import type { StreamTexts } from './event_stream.js';
import { RunFeed } from './run_feed.js';

/**
 * The reports of the run of one message, for the answer to that message. They are followed from the beginning, so that
 * none is missing when the answer has been made.
 */
export class AnswerReports {
  readonly #reports: RunFeed;
  readonly #timer: ReturnType<typeof backgroundTimer>;
  #onNews = (): void => undefined;
  #isLost = false;

  constructor(runs: ServerRuns, message: AskedRun, maySeeCredentials: boolean) {
    this.#reports = new RunFeed(runs, message, maySeeCredentials, () => this.#onNews());
    this.#reports.noteUnderWay();
    // A run that its host has dropped never tells its end.
    const lose = (): void => {
      this.#isLost = true;
      this.#onNews();
    };
    this.#timer = backgroundTimer(lose, runs.find(message, message.messageId)?.leftMs ?? 0);
  }

  /**
   * Returns the texts of a stream: the answer, and then the reports until the run has ended, or has no time left.
   *
   * @param answer JSON text
   */
  behind(answer: string, onNews: () => void): StreamTexts {
    this.#onNews = onNews;
    const reports = this.#reports;
    const hasEnded = (): boolean => reports.isOver || this.#isLost;
    let isAnswered = false;
    const take = (): string | undefined => {
      const text = isAnswered ? reports.next() : answer;
      isAnswered = true;
      return text && `data: ${text}\n\n`;
    };
    return {
      take,
      get hasEnded() {
        return hasEnded();
      },
      comment: () => ': still here\n\n',
      end: () => this.end(),
    };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#reports.end();
  }
}
