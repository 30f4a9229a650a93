import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { messageOf } from '../../values/errors/describe.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Content } from '../../values/model/event/content.js';
import type { Event } from '../../values/model/event/event.js';
import type { AttachedFile } from '../../values/model/artifact.js';
import type { HostBlob } from '../../values/model/host.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { LiveSession } from '../live/types.js';
import type { AssistantPart, Attachment, AttachmentName, GivenPart, UserPart } from './messages.js';
import { attachmentType, isOfUser, shownPartsOf, splitFiles } from './parts.js';

/** A `File` of the host. */
type HostFile = HostBlob & { readonly name: string };

/** A file in a composer. */
interface PendingAttachment<File> extends AttachmentName {
  readonly file: File;
  status: { type: 'requires-action'; reason: 'composer-send' };
}

/** A file of a message that is being sent. */
interface CompleteAttachment<File> extends AttachmentName {
  readonly file: File;
  status: { type: 'complete' };
  content: never[];
}

/** A message that a composer sends. */
interface SentMessage {
  /** The message that it takes the place of. */
  readonly sourceId: string | null;
  readonly content: readonly GivenPart[];
  readonly attachments?:
    readonly { readonly file?: HostFile; readonly content: readonly GivenPart[] }[] | undefined;
}

/** A message of a thread. */
interface ThreadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly createdAt: Date;
  readonly content: readonly AssistantPart[] | readonly UserPart[];
  /** Present in a message of a user. */
  readonly attachments?: readonly Attachment[];
}

/**
 * The files of a live session's messages as attachments of assistant-ui: an `AttachmentAdapter`, and the members of an
 * `ExternalStoreAdapter` whose messages have them. The functions need no `this`.
 */
export interface SessionAttachments {
  /** The types of the files that a composer takes. */
  readonly accept: string;
  /** Returns a file as an attachment of the composer. */
  add<File extends HostFile>(state: { file: File }): Promise<PendingAttachment<File>>;
  /** Does nothing: a file in a composer is not stored. */
  remove(): Promise<void>;
  /** Returns the attachment for the message, which {@link SessionAttachments.onNew} stores. */
  send<File extends HostFile>(
    attachment: AttachmentName & { readonly file: File },
  ): Promise<CompleteAttachment<File>>;
  /**
   * Returns the message of an event. Its files are attachments, each with a part of the type `data`, whose `data` is for
   * `useArtifact`.
   */
  convertMessage(event: Event): ThreadMessage;
  /**
   * Asks the agent, with the files of the composer. If the message is not shown, because a file could not be put, the
   * composer gets the message back with its files, unless the user has begun another one.
   *
   * @throws SessionError as `ask` of the session; for a message that is not shown an `Error` whose `cause` is that error
   */
  onNew(message: SentMessage): Promise<void>;
  /**
   * Edits a message. It keeps the files that are still attached to it.
   *
   * @throws SessionError as `edit` of the session
   */
  onEdit(message: SentMessage): Promise<void>;
}

/** With this member of an error, assistant-ui puts the message back into the composer. */
const NOT_SENT = Symbol.for('assistant-ui.message-not-sent');

/**
 * Returns the attachments of a live session, for `useExternalStoreRuntime`.
 *
 * @param chat the session: `store` of `useSession`, or a `liveSession`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { sessionAttachments } from 'adk-session-wasm/assistant-ui';
 * import { liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService({ artifacts: true });
 * const chat = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' });
 * const attachments = sessionAttachments(chat);
 * // useExternalStoreRuntime({ ..., ...attachments, adapters: { attachments } })
 * const attachment = await attachments.add({ file: new File(['a,b'], 'table.csv') });
 * console.log(attachment.name); // table.csv
 * ```
 */
export function sessionAttachments<S extends object = StateShape>(
  chat: Pick<LiveSession<S>, 'ask' | 'edit'>,
): SessionAttachments {
  return {
    accept: '*',
    add: ({ file }) =>
      Promise.resolve({
        id: newEventId(),
        type: attachmentType(file.type),
        name: file.name,
        contentType: file.type,
        file,
        status: { type: 'requires-action', reason: 'composer-send' },
      }),
    remove: () => Promise.resolve(),
    send: (attachment) =>
      Promise.resolve({ ...attachment, status: { type: 'complete' }, content: [] }),
    convertMessage(event) {
      const { id, timestamp, author } = event;
      const content = shownPartsOf(event);
      return {
        id,
        createdAt: new Date(timestamp),
        ...(author === 'user'
          ? { role: 'user', ...splitFiles(id, content.filter(isOfUser)) }
          : { role: 'assistant', content }),
      };
    },
    async onNew(message) {
      let isShown = false;
      try {
        const [content, options] = await requestOf(message);
        await chat.ask(content, { ...options, onShown: () => (isShown = true) });
      } catch (error) {
        if (isShown) throw error;
        // Another message may fail by the same error.
        const own = new Error(messageOf(error), { cause: error });
        throw Object.assign(own, { [NOT_SENT]: true });
      }
    },
    async onEdit(message) {
      await chat.edit(message.sourceId ?? '', ...(await requestOf(message)));
    },
  };
}

async function requestOf({ content, attachments = [] }: SentMessage): Promise<Request> {
  const { partsOf } = await loadChunk(() => import('./conversion.js'));
  // A file that is stored has its text in the content of its attachment.
  const parts = [content, ...attachments.map(({ content }) => content)].flatMap(partsOf);
  const files = attachments.flatMap(({ content, file }) =>
    file !== undefined && content.length === 0 ? [file] : [],
  );
  return [{ role: 'user', parts }, files.length > 0 ? { files } : {}];
}

type Request = [content: Content, options: { files?: AttachedFile[] }];
