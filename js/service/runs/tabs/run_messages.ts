/**
 * Encodes and checks the messages between tabs about runs. Another version of the package may use the channel, so
 * unknown messages are ignored.
 */
import { isObject } from '../../../values/json/rules.js';
import type { Event } from '../../../values/model/event/event.js';
import { isId } from '../../../values/model/values/ids.js';
import { isEvent } from '../../../core/storage/stored_events.js';
import type { TabCodec } from '../../../core/watch/tab_channel.js';
import type { Draft, RunReport } from '../../../core/run_report.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';

/** The version of the format. It changes when a message changes its meaning. */
const FORMAT_VERSION = 1;

/** How a run ended. */
export type RunEnd = Exclude<RunReport['status'], 'running'>;

/** A run as one tab tells it to the others, with its whole drafts. Its message names the session. */
export type TabRun = Omit<RunReport, keyof CompositeSessionKey>;

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
export const RUN_MESSAGES: TabCodec<RunMessage> = {
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
