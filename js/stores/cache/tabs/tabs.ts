import { reportUncaught } from '../../../core/call/uncaught.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import { TabChannel, type TabHost } from '../../../core/watch/tab_channel.js';
import { type TabContents, type TabMessage, TAB_MESSAGES } from './tab_messages.js';

/** Called with the messages of other tabs. */
export type TabListeners = {
  readonly [Kind in keyof TabContents]: (...content: TabContents[Kind]) => void;
} & {
  /** Called when messages may have been missed. */
  readonly missed: () => void;
};

/** Connects the tabs with the same cache: those of this realm, and by a channel those of others. */
export class TabHub {
  readonly #tabs = new Set<Tabs>();
  readonly #channel: TabChannel<TabMessage> | undefined;

  /**
   * @param name the name of the channel; absent: only this realm has the local storage
   * @param host replaced in tests
   */
  constructor(name?: string, host?: TabHost) {
    if (name === undefined) return;
    const listener = {
      deliver: (messages: readonly TabMessage[]) => this.#deliver(messages),
      missed: () => {
        for (const tab of this.#tabs) tab.miss();
      },
    };
    this.#channel = new TabChannel(name, TAB_MESSAGES, listener, host);
  }

  add(tab: Tabs): void {
    this.#tabs.add(tab);
    if (this.#tabs.size === 1) this.#channel?.start();
    this.#channel?.listen(true);
  }

  delete(tab: Tabs): void {
    this.#tabs.delete(tab);
    if (this.#tabs.size > 0) return;
    this.#channel?.listen(false);
    this.#channel?.close();
  }

  send(message: TabMessage): void {
    this.#channel?.send([message]);
    // A channel delivers nothing to the realm that sends. Its tabs get a copy of their own too.
    queueMicrotask(() => this.#deliver(TAB_MESSAGES.decode(TAB_MESSAGES.encode([message]))));
  }

  #deliver(messages: readonly TabMessage[]): void {
    for (const message of messages) for (const tab of this.#tabs) tab.receive(message);
  }
}

/** The tabs with the same cache, as one of them sees them. They tell each other what changes. A message may be lost. */
export class Tabs {
  /** The name of this tab. */
  readonly own = newEventId();
  readonly #hub: TabHub;
  #listeners: TabListeners | undefined;

  constructor(hub: TabHub) {
    this.#hub = hub;
  }

  post<Kind extends keyof TabContents>(kind: Kind, ...content: TabContents[Kind]): void {
    this.#hub.send({ kind, tab: this.own, content });
  }

  /** Receives the messages of the other tabs, until the returned function is called. */
  listen(listeners: TabListeners): () => void {
    this.#listeners = listeners;
    this.#hub.add(this);
    return () => this.#hub.delete(this);
  }

  receive({ kind, tab, content }: TabMessage): void {
    if (tab === this.own || this.#listeners === undefined) return;
    const listener = this.#listeners[kind] as (...content: readonly unknown[]) => void;
    try {
      listener(...content);
    } catch (error) {
      reportUncaught(error);
    }
  }

  miss(): void {
    this.#listeners?.missed();
  }
}
