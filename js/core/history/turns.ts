/** Edits and regenerates turns. A live session loads this module when it first needs it. */
import { newEventId } from '../../values/model/event/create_event.js';
import type { AskedRun } from '../../values/model/asked_run.js';
import type { Content } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import { filesOf } from '../../values/model/event/message_files.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { RepeatedMessage, RewindOptions, ShownTurn, TurnBranches } from '../history_types.js';
import { sendRewind, type SwitchBranchRequest } from './rewind.js';

export { readBranches } from './histories.js';

/** A request to undo a turn, so that an agent answers the user's message again. */
export interface TurnRequest extends CompositeSessionKey {
  /** An event of the turn. */
  readonly eventId: string;
  /** Lets the agent of the server answer the message, if it has one. */
  readonly run?: AskedRun | undefined;
  /** The id of the message that is sent again. Default: a new one. */
  readonly messageId?: string | undefined;
  /** See `RewindOptions`. */
  readonly running?: RewindOptions['running'];
}

/**
 * Undoes the turn that a user's message began, and replaces the message.
 *
 * @param request the content of the new message, and the metadata with its files
 * @returns the event of the new message
 */
export function editTurn(
  service: SessionService,
  {
    content,
    customMetadata,
    ...request
  }: TurnRequest & { readonly content: Content } & Pick<Event, 'customMetadata'>,
): Promise<Event> {
  const files = filesOf({ content, ...(customMetadata && { customMetadata }) });
  return rewindTurn(service, request, { content, files });
}

/**
 * Undoes a turn from its message on, and sends the message again, so that an agent answers it again. A turn may begin
 * with the answer to a call: the call is then open until the answer is stored again.
 *
 * @returns the event of the message
 */
export function regenerateTurn(service: SessionService, request: TurnRequest): Promise<Event> {
  return rewindTurn(service, request);
}

async function rewindTurn(
  service: SessionService,
  { eventId, run, messageId: id = newEventId(), running, ...key }: TurnRequest,
  edited?: Pick<RepeatedMessage, 'content' | 'files'>,
): Promise<Event> {
  const message = { id, invocationId: `e-${newEventId()}`, ...edited };
  const rewound = await sendRewind(service, key, { turn: eventId }, { message, run, running });
  return rewound.message!;
}

/** Shows another branch, as `switchBranch` does. */
export async function showBranch(
  service: SessionService,
  { branch, running, ...key }: SwitchBranchRequest & Pick<TurnRequest, 'running'>,
): Promise<void> {
  await sendRewind(service, key, { branch }, { running });
}

/** Returns the shown turns that have several versions, by their invocations. The object inherits nothing. */
export function turnsIn(places: readonly TurnBranches[]): Readonly<Record<string, ShownTurn>> {
  const turns = Object.create(null) as Record<string, ShownTurn>;
  for (const { alternatives } of places) {
    const index = alternatives.findIndex(({ isShown }) => isShown);
    const shown = alternatives[index];
    if (shown === undefined) continue;
    const [previous, next] = [alternatives[index - 1]?.branch, alternatives[index + 1]?.branch];
    turns[shown.invocationId] = { index, count: alternatives.length, previous, next };
  }
  return turns;
}
