import type { WatchRequest } from '../../values/model/notice.js';
import type { ServerRuns } from '../runs/server_runs.js';
import type { ChangeLog } from './change_log.js';
import type { StreamTexts } from './event_stream.js';
import { RunFeed } from './run_feed.js';

/** What a feed sends. */
export interface FeedSettings {
  readonly log: ChangeLog;
  readonly watched: WatchRequest;
  /** Absent: the server has no agent. */
  readonly runs: ServerRuns | undefined;
  readonly maySeeCredentials: boolean;
  /** The id of the last event that the client has, or `null`: the feed begins now. */
  readonly lastEventId: string | null;
  /** Gets an error of the log, for as long as the feed is open. */
  readonly onError: (error: unknown) => void;
}

/**
 * The texts of a feed: notices as server-sent events, one notice an event: `data: {"type": "appended", …}`. Beside them
 * come the reports of runs.
 *
 * A feed with a `Last-Event-ID` continues after that event. It begins with a `resync` notice if the log does not
 * have all that followed.
 */
export class ChangeFeed implements StreamTexts {
  readonly #log: ChangeLog;
  readonly #watched: WatchRequest;
  readonly #listening: ReturnType<ChangeLog['listen']>;
  readonly #runs: RunFeed | undefined;
  #hasToldRuns = false;
  #position: number;
  /** Text to send before anything else. */
  #first: string | undefined;

  constructor(feed: FeedSettings, onNews: () => void) {
    const { log, watched, runs, maySeeCredentials, lastEventId, onError } = feed;
    this.#log = log;
    this.#watched = watched;
    const position = lastEventId === null ? log.last : log.positionOf(lastEventId);
    this.#position = position ?? log.last;
    this.#first = this.#eventOf(position === undefined ? 'data: {"type":"resync"}' : ': connected');
    this.#listening = log.listen({ userId: watched.userId, onChange: onNews, onError });
    this.#runs = runs && new RunFeed(runs, watched, maySeeCredentials, onNews);
  }

  /** A client reads everything when its feed has begun. Each change must be in what it reads, or in the feed. */
  get begun(): Promise<void> | undefined {
    return this.#listening.begun;
  }

  get hasEnded(): boolean {
    return this.#log.hasEnded;
  }

  take(): string | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    if (this.#runs !== undefined && !this.#hasToldRuns) {
      this.#hasToldRuns = true;
      return this.#eventOf(`data: ${this.#runs.first()}`);
    }
    const { position, notice } = this.#log.next(this.#position, this.#watched);
    this.#position = position;
    const text = notice === undefined ? this.#runs?.next() : JSON.stringify(notice);
    return text === undefined ? undefined : this.#eventOf(`data: ${text}`);
  }

  comment(): string {
    return this.#eventOf(': still here');
  }

  /** Makes an event with a position, from which the client can continue. Comments are events without data. */
  #eventOf(line: string): string {
    return `${line}\nid: ${this.#log.idOf(this.#position)}\n\n`;
  }

  end(): void {
    this.#listening.stop();
    this.#runs?.end();
  }
}
