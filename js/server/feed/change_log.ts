import type { Notice, Notices, SessionNotice, WatchRequest } from '../../values/model/notice.js';
import { matchNotice } from '../../core/watch/watcher.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { ServiceCore } from '../../service/service_core.js';
import { ForeignChanges, type ForeignListener } from './foreign_changes.js';

/** The most notices of an app that are held. */
const CAPACITY = 10_000;

/** The most apps whose notices are held while nobody reads them. */
const MAX_LOGS = 100;

/** A feed that reads a log. */
export interface LogReader {
  /** Absent: all users of the app. */
  readonly userId: string | undefined;
  /** Called after each new notice and at the end. */
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * The last notices of one app, in the order in which they came. Each feed reads them from a position of its own.
 * A feed that was cut continues at its position.
 *
 * An append drops the session's earlier append from the log, because the later notice says the same. So a busy
 * session does not fill the log, and a slow feed gets only the newest.
 */
export class ChangeLog implements ForeignListener {
  /** Distinguishes this log from those of other processes and of earlier ones. */
  readonly #id = crypto.randomUUID();
  readonly #notices: Notices;
  readonly #readers = new Set<LogReader>();
  readonly #foreign: ForeignChanges | undefined;
  /** A ring: the notice of a position stands at the remainder of {@link CAPACITY}. */
  readonly #ring: (Notice | undefined)[] = [];
  /** Positions of the appends in the ring, by session. */
  readonly #appends = new Map<string, number>();
  #last = 0;
  #hasEnded = false;

  constructor(service: SessionService, core: ServiceCore | undefined, appName: string) {
    this.#notices = service.watch({ appName });
    this.#foreign = core && new ForeignChanges(core, appName, this);
    void this.#receive();
  }

  /** The position of the newest notice. */
  get last(): number {
    return this.#last;
  }

  /** Whether no notice will come any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /**
   * Calls the reader until `stop` is called.
   *
   * @returns `begun`, which resolves when all later changes will be noticed, also those of other programs
   */
  listen(reader: LogReader): { readonly begun: Promise<void> | undefined; stop: () => void } {
    this.#readers.add(reader);
    const stop = (): void => {
      this.#readers.delete(reader);
      if (!this.hasReaders) this.#foreign?.stop();
    };
    return { begun: this.#foreign?.start(reader.userId), stop };
  }

  get users(): ReadonlySet<string> {
    return new Set([...this.#readers].flatMap(({ userId }) => userId ?? []));
  }

  report(error: unknown): void {
    const [reader] = this.#readers;
    reader?.onError(error);
  }

  /** Adds notices of changes by other programs. */
  push(notices: readonly Notice[]): void {
    if (notices.length === 0) return;
    for (const notice of notices) this.#push(notice);
    this.#tellReaders();
  }

  end(): void {
    void this.#notices.return();
  }

  /** Returns a position as a feed sends it. */
  idOf(position: number): string {
    return `${this.#id}.${position}`;
  }

  /** Returns the position of an id; `undefined` if the id is not of this log, or what followed it is lost. */
  positionOf(id: string): number | undefined {
    const position = Number(id.slice(this.#id.length + 1));
    if (id !== this.idOf(position) || position > this.#last) return undefined;
    return this.#hasAllAfter(position) ? position : undefined;
  }

  /** Returns the next notice for a reader, with its position; without a notice, the last position. */
  next(after: number, watched: WatchRequest): { position: number; notice?: Notice } {
    if (!this.#hasAllAfter(after)) return { position: this.#last, notice: { type: 'resync' } };
    for (let position = after + 1; position <= this.#last; position += 1) {
      const given = this.#ring[position % CAPACITY];
      if (given === undefined) continue;
      const notice = matchNotice(watched, given);
      if (notice !== undefined) return { position, notice };
    }
    return { position: this.#last };
  }

  #hasAllAfter(position: number): boolean {
    return position >= this.#last - CAPACITY;
  }

  async #receive(): Promise<void> {
    try {
      for await (const notice of this.#notices) {
        if (this.#foreign?.note(notice) !== false) this.push([notice]);
      }
    } finally {
      this.#hasEnded = true;
      this.#foreign?.stop();
      this.#tellReaders();
    }
  }

  #tellReaders(): void {
    for (const { onChange } of this.#readers) onChange();
  }

  #push(notice: Notice): void {
    this.#last += 1;
    const place = this.#last % CAPACITY;
    const dropped = this.#ring[place];
    if (dropped?.type === 'appended') this.#appends.delete(appendKeyOf(dropped));
    this.#ring[place] = notice;
    if (notice.type !== 'appended') return;
    const key = appendKeyOf(notice);
    const earlier = this.#appends.get(key);
    if (earlier !== undefined) this.#ring[earlier % CAPACITY] = undefined;
    this.#appends.set(key, this.#last);
  }
}

/** Appends with the same key say the same, but for the revision. */
function appendKeyOf({ userId, sessionId, scopes }: SessionNotice): string {
  return JSON.stringify([userId, sessionId, scopes]);
}

/** The logs of the apps that are watched, or were. */
export class ChangeLogs {
  readonly #service: SessionService;
  readonly #core: ServiceCore | undefined;
  readonly #logs = new Map<string, ChangeLog>();

  /** @param core absent: only notices of the service come */
  constructor(service: SessionService, core: ServiceCore | undefined) {
    this.#service = service;
    this.#core = core;
  }

  /**
   * Returns the log of an app, which begins now if there is none.
   *
   * @throws SessionError `closed`
   */
  open(appName: string): ChangeLog {
    const known = this.#logs.get(appName);
    if (known?.hasEnded === false) return known;
    const log = new ChangeLog(this.#service, this.#core, appName);
    this.#logs.set(appName, log);
    for (const [name, other] of this.#logs) {
      if (this.#logs.size <= MAX_LOGS) break;
      if (other.hasReaders || name === appName) continue;
      other.end();
      this.#logs.delete(name);
    }
    return log;
  }

  /** Ends all logs, and with them their feeds. */
  close(): void {
    for (const log of this.#logs.values()) log.end();
    this.#logs.clear();
  }
}
