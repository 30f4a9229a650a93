import type { ServerAgent } from '../../core/core_of.js';
import { isSessionError } from '../../values/errors/errors.js';
import { untilAborted } from '../../core/call/time_limit.js';
import { nameOf } from './records/cache_key.js';
import { isOutage } from './records/failures.js';
import type { RemoteConnection } from './copies/remote_connection.js';
import type { Outbox } from './outbox.js';
import type { Sender } from './sending/sender.js';

interface CancelParts {
  readonly remote: RemoteConnection;
  readonly sender: Sender;
}

/**
 * Cancels a run of the remote's agent. A message that the remote does not have is removed from the outbox, so it never
 * runs. While a request with the message is under way, its answer is awaited: it tells whether the remote has the message.
 * A message that may have arrived is removed too if the remote does not answer. If it has arrived, its run is shown later.
 *
 * @returns whether anything was cancelled
 */
export async function cancelRun(
  { remote, sender }: CancelParts,
  outbox: Outbox,
  agent: ServerAgent,
  { appName, userId, sessionId, messageId, signal }: Parameters<ServerAgent['cancel']>[0],
): Promise<boolean> {
  const key = { appName, userId, sessionId };
  const cancel = () =>
    remote.ask((_, call) => agent.cancel({ ...key, messageId, signal: call.signal }));
  if (messageId === undefined) return untilAborted(signal, cancel());
  if (await outbox.takeBack(key, messageId, 'unsent')) return true;
  await untilAborted(signal, Promise.resolve(sender.sending(nameOf(key))));
  if (await outbox.takeBack(key, messageId, 'unsent')) return true;
  try {
    if (await untilAborted(signal, cancel())) return true;
    const request = { key, eventIds: [messageId] };
    const reading = remote.ask((store, call) => store.read({ ...request, kind: 'ids' }, call));
    const stored = await untilAborted(signal, reading);
    if (stored !== undefined && stored.events.length > 0) return false;
  } catch (error) {
    // A session that the remote does not have has no run either.
    const isMissing = isSessionError(error, 'not_found');
    if (!isMissing && !isOutage(error)) throw error;
    const isTaken = await outbox.takeBack(key, messageId, 'all');
    if (!isTaken && !isMissing) throw error;
    return isTaken;
  }
  // The request with the message was lost.
  return outbox.takeBack(key, messageId, 'all');
}
