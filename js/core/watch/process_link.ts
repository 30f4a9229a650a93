import type { TabKind, TabListener, TabPort } from './tab_channel.js';

/** What connects the processes beside their notices. */
export interface ProcessLink {
  /** Whether the drafts of runs may be told. */
  readonly tellsDrafts: boolean;
  /** Whether a service has the feed. Otherwise nothing is heard. */
  readonly isUsed: boolean;
  /** Calls a function once, when the last service has released the feed. Ports that were given before are closed then. */
  onRelease(run: () => void): void;
  /** Returns a port of the channel. */
  port<Message>(kind: TabKind<Message>, listener: TabListener<Message>): TabPort<Message>;
  /** See `ProcessHost`. */
  listening(): (wasHeard: boolean) => boolean;
}
