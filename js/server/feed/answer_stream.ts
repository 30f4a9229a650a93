import type { ServerRuns } from '../runs/server_runs.js';
import type { StreamTexts } from './event_stream.js';
import { type FollowedRuns, RunFeed } from './run_feed.js';

/**
 * The reports of the run of one message, for the answer to that message. They are followed from the beginning, so that
 * none is missing when the answer has been made.
 */
export class AnswerReports {
  readonly #reports: RunFeed;
  #onNews = (): void => undefined;

  constructor(runs: ServerRuns, message: Required<FollowedRuns>, maySeeCredentials: boolean) {
    this.#reports = new RunFeed(runs, message, maySeeCredentials, () => this.#onNews());
    this.#reports.noteUnderWay();
  }

  /**
   * Returns the texts of a stream: the answer, and then the reports until the run has ended.
   *
   * @param answer JSON text
   */
  behind(answer: string, onNews: () => void): StreamTexts {
    this.#onNews = onNews;
    const reports = this.#reports;
    let isAnswered = false;
    const take = (): string | undefined => {
      const text = isAnswered ? reports.next() : answer;
      isAnswered = true;
      return text && `data: ${text}\n\n`;
    };
    return {
      take,
      get hasEnded() {
        return reports.isOver;
      },
      comment: () => ': still here\n\n',
      end: () => this.end(),
    };
  }

  end(): void {
    this.#reports.end();
  }
}
