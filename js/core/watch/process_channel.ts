/**
 * The channel between the server processes that share a database. The texts carry what tabs tell each other, and who sends
 * them.
 */
import { putLast } from '../../values/bounded_map.js';
import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { isObject } from '../../values/json/rules.js';
import { isPromise } from '../../values/members.js';
import type { OpenChannel, ProcessChannel } from './open_channel.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { isId } from '../../values/model/values/ids.js';
import { backgroundTimer } from '../call/lifetime.js';
import { backoff } from '../call/scheduling.js';
import type { ReportFailure } from '../storage/store.js';
import type { TabBroadcast, TabHost } from './tab_channel.js';

/** How a channel is opened. */
export interface ChannelSettings {
  readonly open: OpenChannel;
  /** Returns the 32 hexadecimal digits that the processes of the storage share. */
  readonly readSecret: () => Promise<string>;
  /** See `ProcessLink`. */
  readonly tellsDrafts: boolean;
  /** Absent: nobody listens to diagnostics. */
  readonly report: ReportFailure | undefined;
}

/** The most texts that wait until the channel is open. */
const MAX_WAITING = 1000;

/** The most senders whose last number is remembered. */
const MAX_SENDERS = 1000;

/** The pauses between attempts to open the channel, in milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 30_000];

/** The least time between two reports of refused texts, in milliseconds. */
const REPORT_MS = 60_000;

/** Opens the channel of one start of a process, and knows whether it hears the others. */
export class ProcessHost implements TabHost {
  readonly #sender = { start: newEventId(), number: 0, echo: 0, misses: 0, isHearing: false };
  readonly open: () => TabBroadcast;
  #opened: Promise<void> | undefined;

  constructor(settings: ChannelSettings) {
    this.open = () => {
      const connection = new ProcessConnection(settings, this.#sender);
      this.#opened = connection.opened;
      return connection;
    };
  }

  /** Resolves once the channel has what was posted, or cannot be opened at once. */
  get opened(): Promise<void> | undefined {
    return this.#opened;
  }

  /**
   * Begins to listen for an answer to what is sent next. Returns a function that tells, later, whether an answer would
   * have been heard: the channel is open, was not interrupted, and has returned a text of this process since. A channel
   * that returns none may deliver nothing at all: it needs to have delivered a text of the process that is asked.
   */
  listening(): (wasHeard: boolean) => boolean {
    const { number, misses } = this.#sender;
    return (wasHeard) => {
      const { echo, misses: now, isHearing } = this.#sender;
      return isHearing && now === misses && (echo === 0 ? wasHeard : echo > number);
    };
  }
}

/** One start of a process. */
interface Sender {
  readonly start: string;
  /** The number of its last text. */
  number: number;
  /** The number of its last text that the channel has returned; 0 if it returns none. */
  echo: number;
  /** How often texts may have been missed. */
  misses: number;
  /** Whether the channel is open and hears. */
  isHearing: boolean;
}

/** A text of a process. */
interface ProcessText extends Pick<Sender, 'start' | 'number'> {
  readonly data: unknown;
}

/** Returns what a text says; `undefined` if no process of this package has sent it, or a part of it is lost. */
function decodeText(text: unknown): ProcessText | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || value.length !== 3) return undefined;
    const [start, number, data] = value as unknown[];
    if (!isId(start) || !isNumber(number) || !isObject(data)) return undefined;
    return { start, number, data };
  } catch {
    return undefined;
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/**
 * The channel of one process, as {@link TabChannel} uses it. It is opened once its name is known. Texts that are posted
 * before wait for that.
 *
 * Each text has the start of its sender and a number. So the process knows its own texts, which some channels return, and
 * finds lost ones: the numbers of a sender then have a gap. Texts that are forged, cut or repeated are counted and dropped.
 */
export class ProcessConnection implements TabBroadcast {
  onmessage: TabBroadcast['onmessage'] = null;
  /** Called when texts may have been missed. */
  onmissed: (() => void) | null = null;
  /** Resolves once the channel is open and has the texts that waited, or when the first attempt has failed. */
  readonly opened: Promise<void>;
  readonly #settings: ChannelSettings;
  readonly #sender: Sender;
  /** The number of the last text of each other process. */
  readonly #heard = new Map<string, number>();
  #channel: ProcessChannel | undefined;
  #waiting: string[] = [];
  #isClosed = false;
  #refused = 0;
  #reportTime = -Infinity;

  constructor(settings: ChannelSettings, sender: Sender) {
    this.#settings = settings;
    this.#sender = sender;
    this.opened = new Promise((resolve) => void this.#open(resolve));
  }

  postMessage(data: unknown): void {
    const number = this.#sender.number + 1;
    const text = JSON.stringify([this.#sender.start, number, data]);
    this.#sender.number = number;
    const channel = this.#channel;
    if (channel !== undefined) return this.#attempt(() => channel.postMessage(text));
    this.#waiting.push(text);
    // The others find the gap.
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  }

  close(): void {
    this.#isClosed = true;
    this.#sender.isHearing = false;
    this.#attempt(() => this.#channel?.close());
  }

  async #open(tried: () => void): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      // A channel that is only closed after this sends what waits.
      if (this.#isClosed && (failures > 0 || this.#waiting.length === 0)) return tried();
      try {
        const secret = await this.#settings.readSecret();
        this.#use(this.#settings.open(`adk_session_wasm_${secret}`));
        return tried();
      } catch (error) {
        if (failures === 0) this.#fail(error);
        tried();
        const pause = backoff(failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        await new Promise<void>((resolve) => backgroundTimer(resolve, pause));
      }
    }
  }

  #use(channel: ProcessChannel): void {
    this.#channel = channel;
    channel.onmessage = ({ data }) => this.#receive(data);
    if ('onfailure' in channel) channel.onfailure = (error) => this.#fail(error);
    if ('onmissed' in channel) channel.onmissed = () => this.#miss();
    // Until now nothing was heard.
    else this.#miss();
    for (const text of this.#waiting.splice(0)) this.#attempt(() => channel.postMessage(text));
    if (this.#isClosed) this.#attempt(() => channel.close());
  }

  #miss(): void {
    this.#sender.isHearing = true;
    this.#sender.misses += 1;
    this.onmissed?.();
  }

  /** Calls the program's channel. What it throws, at once or later, is reported, and fails nothing. */
  #attempt(call: () => unknown): void {
    try {
      const done = call();
      if (isPromise(done)) done.then(undefined, (error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reports what fails. The error of another's channel may quote a password, which a `SessionError` masks. */
  #fail(error: unknown): void {
    const { report } = this.#settings;
    if (isSessionError(error)) return report?.('channel', error);
    const message = `The channel failed: ${messageOf(error)}`;
    report?.('channel', new SessionError('storage_failed', message, { cause: error }));
  }

  #receive(given: unknown): void {
    const text = decodeText(given);
    if (text === undefined) return this.#refuse();
    const { start, number, data } = text;
    if (start === this.#sender.start) {
      this.#sender.echo = Math.max(this.#sender.echo, number);
      return;
    }
    const last = this.#heard.get(start);
    if (last !== undefined && number <= last) return this.#refuse();
    putLast(this.#heard, start, number, MAX_SENDERS);
    this.onmessage?.({ data });
    // After its content: what is read again then includes it.
    if (last !== undefined && number > last + 1) this.#miss();
  }

  /** Counts a text that is dropped, and reports how many there were. */
  #refuse(): void {
    this.#refused += 1;
    const now = performance.now();
    if (now - this.#reportTime < REPORT_MS) return;
    const message = `The channel has dropped ${this.#refused} texts that were forged, cut or repeated.`;
    this.#fail(new SessionError('corrupt_record', message));
    this.#refused = 0;
    this.#reportTime = now;
  }
}
