import { TabChannel, type TabHost } from '../../../core/watch/tab_channel.js';
import { RUN_MESSAGES, type RunMessage } from './run_messages.js';

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
