import type { TabKind, TabListener, TabPort } from './tab_channel.js';

/** What connects the processes beside their notices. */
export interface ProcessLink {
  /** Whether the drafts of runs may be told. */
  readonly tellsDrafts: boolean;
  /** Returns a port of the channel, which is in use as long as a service has the feed. */
  port<Message>(kind: TabKind<Message>, listener: TabListener<Message>): TabPort<Message>;
  /** See `ProcessHost`. */
  listening(): () => boolean;
}
