/** The channel between processes by LISTEN and NOTIFY of PostgreSQL. */
import { backgroundTimer } from '../../../../core/call/lifetime.js';
import { backoff } from '../../../../core/call/scheduling.js';
import type { OpenChannel, ProcessChannel } from '../../../../core/watch/open_channel.js';
import { SessionError } from '../../../../values/errors/errors.js';
import { invalid, invalidValue } from '../../../../values/errors/invalid.js';
import { requireObject } from '../../../../values/errors/option_values.js';
import { newEventId } from '../../../../values/model/event/create_event.js';
import { parseAddress } from '../../engine/address.js';
import { loadDriver } from '../../engine/driver.js';
import { partsOfText, TextParts } from './channel_parts.js';

/** Milliseconds from one text to itself to the next. */
const ECHO_MS = 15_000;

/** The most milliseconds of a connect. */
const CONNECT_MS = 10_000;

/** The pauses between connections, in milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000];

/** The most texts that wait for a connection. Of more, the first are lost, and the others find the gap. */
const MAX_WAITING = 1000;

/** `unnest` keeps the order, and one transaction sends the parts in theirs. */
const NOTIFY = 'select pg_notify($1, part) from unnest($2::text[]) as parts(part)';

const DRIVER = { kind: 'postgresql', name: 'PostgreSQL', driver: 'pg' } as const;

/** The part of a connection of `pg` that is used. */
interface Listener {
  readonly connection: { readonly stream: { destroy(): unknown } };
  connect(): Promise<unknown>;
  query(text: string, values?: readonly unknown[]): Promise<unknown>;
  end(): Promise<void>;
  ref(): void;
  unref(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { payload?: string }) => void): unknown;
}

interface Pg {
  default: { Client: new (options: object) => Listener };
}

/**
 * Connects processes by LISTEN and NOTIFY of PostgreSQL, for the option `channel` of a `DatabaseSessionService`. The
 * service may be over another database.
 *
 * The channel has one connection of its own for each service, which it opens again with growing pauses when it is lost. It
 * hears itself every 15 seconds. If it does not, `onDiagnostic` gets the kind `'channel'`: a pooler in transaction mode
 * accepts LISTEN and delivers nothing, so the channel needs an address of PostgreSQL itself. A hot standby does not take
 * it. It keeps awake a database that sleeps when nobody uses it. It keeps no program running.
 *
 * @param from a URL, the options of a client of `pg`, or a pool of `pg`, whose options are used and none of its clients
 * @throws SessionError `invalid_argument`, without the URL
 */
export function postgresChannel(from: string | object): OpenChannel {
  const options = clientOptions(from);
  return (name) => new PostgresChannel(name, options);
}

function clientOptions(from: unknown): object {
  if (typeof from === 'string') {
    const { kind, location } = parseAddress(from);
    if (kind === 'postgresql') return { connectionString: location };
    throw invalid('channel', 'must have an address of PostgreSQL, such as postgresql://…');
  }
  requireObject('channel', from);
  const { connect, options } = from as { readonly connect?: unknown; readonly options?: unknown };
  if (typeof connect !== 'function') return from;
  // As they are: a pool hides its password from those who copy them.
  if (typeof options === 'object' && options !== null) return options;
  throw invalidValue('channel', 'must be a URL, options of pg or its pool, and no client', from);
}

class PostgresChannel implements ProcessChannel {
  onmessage: ProcessChannel['onmessage'] = null;
  onmissed: (() => void) | null = null;
  onfailure: ((error: unknown) => void) | null = null;
  readonly #name: string;
  readonly #options: object;
  /** Names this channel in its parts and echoes. */
  readonly #id = newEventId().slice(0, 8);
  readonly #parts = new TextParts();
  #number = 0;
  /** The texts that were not sent yet. */
  readonly #waiting: string[] = [];
  /** Absent: there is no connection now. */
  #client: Listener | undefined;
  #isSending = false;
  #isClosed = false;
  /** The attempts to connect since the last echo. */
  #attempts = 0;
  /** Whether this connection has heard itself, and whether it has since the last question. */
  #hasEcho = false;
  #isEchoed = false;
  /** Whether what fails now was reported. */
  #isReported = false;
  /** Ends the use of the present connection. */
  #finish = (): void => undefined;

  constructor(name: string, options: object) {
    this.#name = name;
    this.#options = options;
    void this.#keepConnected();
  }

  postMessage(text: string): void {
    this.#waiting.push(text);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    void this.#send();
  }

  close(): void {
    this.#isClosed = true;
    void this.#send();
  }

  async #keepConnected(): Promise<void> {
    while (!this.#isClosed) {
      await this.#useConnection().catch((error: unknown) => this.#report(error));
      this.#client = undefined;
      const pause = backoff(this.#attempts, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      this.#attempts += 1;
      if (!this.#isClosed) await new Promise<void>((resolve) => backgroundTimer(resolve, pause));
    }
  }

  /** Resolves when the channel is closed, and everything is sent. Rejects when there is no connection any more. */
  async #useConnection(): Promise<void> {
    const { default: pg } = await loadDriver<Pg>(DRIVER);
    const client = new pg.Client(this.#options);
    const { stream } = client.connection;
    let timer = backgroundTimer(() => client.connection.stream.destroy(), CONNECT_MS);
    try {
      const ended = new Promise<void>((resolve, reject) => {
        this.#finish = resolve;
        client.on('error', (error) => reject(failureOf(error)));
        client.on('end', () => reject(failureOf(undefined)));
        client.on('notification', ({ payload = '' }) => this.#receive(payload));
      });
      // A connect that fails rejects too.
      ended.catch(() => undefined);
      const connecting = client.connect();
      this.#hold(client);
      await connecting.catch(rethrow);
      // With TLS it has got another socket.
      this.#hold(client);
      await client.query(`listen "${this.#name}"`).catch(rethrow);
      clearTimeout(timer);
      this.#client = client;
      this.#hasEcho = false;
      void this.#send();
      const echoless = new Promise<void>((_, reject) => {
        const ask = (notify: Promise<unknown>): void => {
          this.#isEchoed = false;
          notify.catch(() => undefined);
          timer = backgroundTimer(() => {
            if (this.#isEchoed) ask(client.query(NOTIFY, this.#echo));
            else reject(this.#hasEcho ? failureOf(undefined) : withoutEcho());
          }, ECHO_MS);
        };
        // A pooler returns to a client what it sends itself, if both go over one connection of the server. A server that
        // refuses a second connection is asked by this one.
        const own = (): Promise<unknown> => client.query(NOTIFY, this.#echo);
        ask(this.#notifyFromElsewhere(pg.Client).catch(own));
      });
      await Promise.race([ended, echoless]);
      await client.end();
    } catch (error) {
      client.connection.stream.destroy();
      stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends the first echo by another connection, which ends then. */
  async #notifyFromElsewhere(Client: Pg['default']['Client']): Promise<void> {
    const client = new Client(this.#options);
    client.on('error', () => undefined);
    const timer = backgroundTimer(() => client.connection.stream.destroy(), CONNECT_MS);
    try {
      const connecting = client.connect();
      client.unref();
      await connecting;
      client.unref();
      await client.query(NOTIFY, this.#echo);
      await client.end();
    } finally {
      clearTimeout(timer);
      client.connection.stream.destroy();
    }
  }

  /** The values of the statement that sends a text to this channel itself. */
  get #echo(): [name: string, texts: [string]] {
    return [this.#name, [`echo ${this.#id}`]];
  }

  #receive(payload: string): void {
    if (payload === this.#echo[1][0]) return this.#hear();
    if (payload.startsWith('echo ')) return;
    const text = this.#parts.add(payload);
    if (text !== undefined) this.onmessage?.({ data: text });
  }

  #hear(): void {
    this.#isEchoed = true;
    this.#attempts = 0;
    this.#isReported = false;
    if (this.#hasEcho) return;
    this.#hasEcho = true;
    // Nothing was heard before this connection.
    this.onmissed?.();
  }

  async #send(): Promise<void> {
    const client = this.#client;
    if (client === undefined || this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#waiting.length > 0) {
        this.#hold(client);
        // What a lost connection may have sent is not sent again: the others find the gap.
        const texts = this.#waiting.splice(0);
        const parts = texts.flatMap((text) => partsOfText(this.#id, (this.#number += 1), text));
        await client.query(NOTIFY, [this.#name, parts]);
      }
    } catch (error) {
      this.#report(failureOf(error));
    }
    this.#isSending = false;
    this.#hold(client);
    if (this.#client !== client) return this.#send();
    if (this.#isClosed) this.#finish();
  }

  /** Keeps the program running while there is something to send, if the first connection is there or comes. */
  #hold(client: Listener): void {
    const isNeeded = this.#attempts === 0 && (this.#isSending || this.#waiting.length > 0);
    if (isNeeded) client.ref();
    else client.unref();
  }

  #report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.onfailure?.(error);
  }
}

function rethrow(error: unknown): never {
  throw failureOf(error);
}

/** The code of a hot standby, which refuses LISTEN and NOTIFY. */
const READ_ONLY = '25006';

/** Makes the error for one of the driver. Its message may quote an address, so only its code is shown. */
function failureOf(cause: unknown): SessionError {
  const { code } = Object(cause) as { readonly code?: unknown };
  if (code === READ_ONLY) {
    const message =
      'A hot standby of PostgreSQL takes no LISTEN; give postgresChannel the address of the primary.';
    return new SessionError('unsupported', message, { cause });
  }
  const reason = typeof code === 'string' ? ` (${code})` : '';
  const message = `The channel has no connection to PostgreSQL${reason}; it connects again.`;
  return new SessionError('connection_lost', message, { cause });
}

function withoutEcho(): SessionError {
  const message =
    'PostgreSQL accepts LISTEN and delivers nothing, as behind a pooler in transaction mode; ' +
    'give postgresChannel the address of the server itself.';
  return new SessionError('unsupported', message);
}
