/**
 * The messages between tabs about runs. Another version of the package may use the channel, so unknown messages are
 * ignored.
 */
import type { Draft, RunReport } from '../../../core/run_report.js';
import { isEvent } from '../../../core/storage/stored_events.js';
import { type TabCodec, TabChannel, type TabHost } from '../../../core/watch/tab_channel.js';
import { isObject } from '../../../values/json/rules.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { isId } from '../../../values/model/values/ids.js';

/** The version of the format. It changes when a message changes its meaning. */
const FORMAT_VERSION = 1;

/** A run as one tab tells it to the others, with its whole drafts. Its message names the session. */
type TabRun = Omit<RunReport, keyof CompositeSessionKey>;

/** A message about the runs of a session. */
export type RunMessage = { readonly session: string } & (
  | {
      /** Asks the tab that runs an agent to tell it now. */
      readonly type: 'ask';
    }
  | {
      /** Asks the tab that runs an agent to stop. */
      readonly type: 'cancel';
      readonly messageId: string;
    }
  | ({ readonly type: 'run' } & TabRun)
);

/** The form of messages about runs. */
const RUN_MESSAGES: TabCodec<RunMessage> = {
  merge: newest,
  encode: (messages) => ({ format: FORMAT_VERSION, messages }),
  decode(data) {
    if (!isObject(data) || data.format !== FORMAT_VERSION || !Array.isArray(data.messages))
      return [];
    return data.messages.filter(isRunMessage);
  },
};

/** Drops a message about a run if a later one about the same run follows: each has the whole drafts. */
function newest(messages: readonly RunMessage[]): readonly RunMessage[] {
  return messages.filter((message, at) => {
    if (message.type !== 'run') return true;
    const { session, messageId } = message;
    const isReplaced = (later: RunMessage): boolean =>
      later.type === 'run' && later.session === session && later.messageId === messageId;
    return !messages.slice(at + 1).some(isReplaced);
  });
}

function isRunMessage(value: unknown): value is RunMessage {
  if (!isObject(value) || typeof value.session !== 'string') return false;
  const { type, messageId, invocationId, status, drafts, wholes } = value;
  if (type === 'ask') return true;
  if (!isId(messageId)) return false;
  if (type === 'cancel') return true;
  const isStatus = ['running', 'ended', 'failed', 'cancelled'].includes(status as string);
  const hasDrafts = Array.isArray(drafts) && drafts.every(isDraft) && Array.isArray(wholes);
  return type === 'run' && isStatus && hasDrafts && typeof invocationId === 'string';
}

function isDraft(value: unknown): value is Draft {
  const event = isObject(value) ? value.event : undefined;
  return isEvent(event) && isId((event as Partial<Event>).id);
}

/** Receives the messages about the runs of one session. */
export interface TabRunListener {
  receive(message: RunMessage): void;
  /** Called when messages may have been missed. */
  missed(): void;
}

/** Connects the runs of the sessions of one database with those of the other tabs. */
export class RunChannel {
  readonly #channel: TabChannel<RunMessage>;
  readonly #listeners = new Map<string, TabRunListener>();

  constructor(name: string, host?: TabHost) {
    const listener = {
      deliver: (messages: readonly RunMessage[]) => {
        for (const message of messages) this.#listeners.get(message.session)?.receive(message);
      },
      missed: () => {
        for (const listener of this.#listeners.values()) listener.missed();
      },
    };
    this.#channel = new TabChannel(name, RUN_MESSAGES, listener, host);
  }

  /** Passes the messages of a session on, until the returned function is called. */
  listen(session: string, listener: TabRunListener): () => void {
    if (this.#listeners.size === 0) this.#channel.start();
    this.#listeners.set(session, listener);
    this.#channel.listen(true);
    return () => {
      this.#listeners.delete(session);
      if (this.#listeners.size === 0) this.#channel.close();
    };
  }

  send(message: RunMessage): void {
    this.#channel.send([message]);
  }
}

const channels = new Map<string, RunChannel>();

/**
 * Returns a database's channel for runs. A realm has one of them, because a channel delivers nothing to its own realm.
 */
export function runChannelOf(feedName: string): RunChannel {
  const name = `${feedName}:runs`;
  const channel = channels.get(name) ?? new RunChannel(name);
  channels.set(name, channel);
  return channel;
}
