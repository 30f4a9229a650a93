/**
 * Messages in the shape of `@assistant-ui/react`. The types are our own, so that nobody needs that package to compile.
 * What is stored is assignable to its types, and its types to what is given.
 */
import type { MessageFile } from '../../values/model/event/message_files.js';
import type { JsonValue } from '../../values/model/session.js';

/** A text of a user or a model. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A thought of a model. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
}

/** An image. */
export interface ImagePart {
  readonly type: 'image';
  /** A URL, mostly one with the scheme `data`. */
  readonly image: string;
  readonly filename?: string;
}

/** A file that is not an image. */
export interface FilePart {
  readonly type: 'file';
  /** Base64, or a URL. */
  readonly data: string;
  /** IANA media type, like `application/pdf`. */
  readonly mimeType: string;
  readonly filename?: string;
}

/** A file of the message, which is kept as an artifact. */
export interface ArtifactPart {
  readonly type: 'data';
  readonly name: 'artifact';
  /** Which one: for `useArtifact` or `showArtifact`. */
  readonly data: MessageFile;
}

/** A call of a tool, with its result once there is one. */
export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  /** The JSON text of `args`. */
  readonly argsText: string;
  readonly result?: unknown;
  readonly isError?: boolean;
}

/** A part of a user's message. */
export type UserPart = TextPart | ImagePart | FilePart | ArtifactPart;
/** A part of an assistant's message. */
export type AssistantPart = UserPart | ReasoningPart | ToolCallPart;

/** What a file was attached as. */
export interface AttachmentName {
  readonly id: string;
  /** `'image'`, `'document'` or `'file'`. */
  readonly type: string;
  readonly name: string;
  readonly contentType?: string | undefined;
}

/** An attachment of a user's message. */
export interface Attachment extends AttachmentName {
  readonly status: { readonly type: 'complete' };
  readonly content: UserPart[];
}

/** How an assistant's message ended. */
export type MessageStatus =
  | { readonly type: 'complete'; readonly reason: 'stop' | 'unknown' }
  | { readonly type: 'requires-action'; readonly reason: 'tool-calls' }
  | {
      readonly type: 'incomplete';
      readonly reason: IncompleteReason;
      readonly error?: string;
    };

/** Why a message is incomplete. */
export type IncompleteReason =
  'cancelled' | 'tool-calls' | 'length' | 'content-filter' | 'other' | 'error';

/** A message of a user. */
export interface UserMessage {
  readonly id: string;
  readonly createdAt: Date;
  readonly role: 'user';
  readonly content: readonly UserPart[];
  readonly attachments: readonly Attachment[];
  readonly metadata: { readonly custom: Record<string, unknown> };
}

/** A message of an assistant. */
export interface AssistantMessage {
  readonly id: string;
  readonly createdAt: Date;
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
  readonly status: MessageStatus;
  readonly metadata: {
    readonly unstable_state: null;
    readonly unstable_annotations: readonly never[];
    readonly unstable_data: readonly never[];
    readonly steps: readonly never[];
    readonly custom: Record<string, unknown>;
  };
}

/** A message and the one that it follows; `null` for a first one. */
export interface LinkedMessage {
  readonly message: UserMessage | AssistantMessage;
  readonly parentId: string | null;
}

/** A part of a message of assistant-ui, of any type. */
export interface GivenPart {
  readonly type: string;
  readonly name?: string;
  readonly text?: string;
  readonly image?: string;
  /** Of a file the text that {@link FilePart} tells. Parts of other types have anything. */
  readonly data?: unknown;
  readonly mimeType?: string;
  readonly filename?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly args?: object;
  readonly result?: unknown;
  readonly isError?: boolean | undefined;
  readonly isPreliminary?: boolean | undefined;
}

/** A message of assistant-ui. */
export interface GivenMessage {
  readonly id: string;
  readonly createdAt: Date;
  readonly role: string;
  readonly content: readonly GivenPart[];
  readonly status?: {
    readonly type: string;
    readonly reason?: string;
    readonly error?: unknown;
  };
  readonly attachments?: readonly (AttachmentName & { readonly content: readonly GivenPart[] })[];
  readonly metadata: { readonly custom: Record<string, unknown> };
}

/** A message of assistant-ui, and the one that it follows. */
export interface GivenItem {
  readonly message: GivenMessage;
  readonly parentId: string | null;
}

/** What the events of a message store about it, in their `customMetadata.assistantUi`. */
export interface MessageMetadata {
  readonly messageId: string;
  readonly parentId: string | null;
  /**
   * Only if it does not follow from the events: an incomplete message, or a complete one with a call without a result.
   */
  readonly status?: MessageStatus;
  /** The last parts of the message belong to these attachments, `length` parts to each. */
  readonly attachments?: readonly (AttachmentName & { readonly length: number })[];
}
