/**
 * Events in the shape of the ADK's TypeScript package.
 *
 * The types are our own, so that nobody needs `@google/adk` or `@google/genai` to compile. They are
 * assignable to the ADK's types and back. So fields whose type is an enum of `@google/genai` are
 * not declared here (`finishReason`, a part's `mediaResolution`, `mediaProcessing`,
 * `executableCode.language`, …). A `string` would make our event unassignable to the ADK's, and a
 * nominal enum would need an import. These fields are stored all the same, like every unknown
 * field.
 */
import { ownMembers } from '../members/own.js';

/**
 * The bytes of a file in a {@link Part}.
 *
 * @example
 * ```ts
 * import type { InlineData } from 'adk-session-wasm';
 *
 * const pixel: InlineData = { mimeType: 'image/gif', data: 'R0lGODlhAQABAAAAACw=' };
 * ```
 */
export interface InlineData {
  /** Base64. */
  data?: string;
  /** IANA media type, like `image/png`. */
  mimeType?: string;
  /** The name to show to people. */
  displayName?: string;
}

/**
 * A file stored elsewhere, referenced by a {@link Part}.
 *
 * @example
 * ```ts
 * import type { FileData } from 'adk-session-wasm';
 *
 * const menu: FileData = { fileUri: 'gs://shop/menu.pdf', mimeType: 'application/pdf' };
 * ```
 */
export interface FileData {
  /** Its URI, like `gs://bucket/tea.pdf`. */
  fileUri?: string;
  /** IANA media type. */
  mimeType?: string;
  /** The name to show to people. */
  displayName?: string;
}

/**
 * A function call that the model asks for.
 *
 * @example
 * ```ts
 * import type { FunctionCall } from 'adk-session-wasm';
 *
 * const call: FunctionCall = { id: 'f1', name: 'weather', args: { city: 'Seoul' } };
 * ```
 */
export interface FunctionCall {
  /** The {@link FunctionResponse} must repeat this id. */
  id?: string;
  /** The function's name. */
  name?: string;
  /** The arguments by name. */
  args?: Record<string, unknown>;
}

/**
 * The result of a function call.
 *
 * @example
 * ```ts
 * import type { FunctionResponse } from 'adk-session-wasm';
 *
 * const result: FunctionResponse = { id: 'f1', name: 'weather', response: { sky: 'clear' } };
 * ```
 */
export interface FunctionResponse {
  /** The id of its {@link FunctionCall}. */
  id?: string;
  /** The function's name. */
  name?: string;
  /** The result, or `{ error }`. */
  response?: Record<string, unknown>;
}

/**
 * Code that the model asks to run.
 *
 * @example
 * ```ts
 * import type { ExecutableCode } from 'adk-session-wasm';
 *
 * const code: ExecutableCode = { id: 'c1', code: 'print(6 * 7)' };
 * ```
 */
export interface ExecutableCode {
  /** The {@link CodeExecutionResult} repeats this id. */
  id?: string;
  /** The source text. */
  code?: string;
}

/**
 * The result of running an {@link ExecutableCode}.
 *
 * @example
 * ```ts
 * import type { CodeExecutionResult } from 'adk-session-wasm';
 *
 * const result: CodeExecutionResult = { id: 'c1', output: '42' };
 * ```
 */
export interface CodeExecutionResult {
  /** The id of its {@link ExecutableCode}. */
  id?: string;
  /** Standard output, or an error message. */
  output?: string;
}

/**
 * One part of a {@link Content}: a text, a file, a function call or its response, code or its
 * result.
 *
 * @example
 * ```ts
 * import type { Part } from 'adk-session-wasm';
 *
 * const part: Part = { functionCall: { id: 'f1', name: 'weather', args: { city: 'Seoul' } } };
 * ```
 */
export interface Part {
  /** A text of the user or the model. */
  text?: string;
  /** Whether the text is the model's reasoning and not its answer. */
  thought?: boolean;
  /** Base64; the model needs it back in later requests. */
  thoughtSignature?: string;
  /** A file with its bytes. */
  inlineData?: InlineData;
  /** A file stored elsewhere. */
  fileData?: FileData;
  /** The model's request to call a function. */
  functionCall?: FunctionCall;
  /** The result of a function call. */
  functionResponse?: FunctionResponse;
  /** The model's request to run code. */
  executableCode?: ExecutableCode;
  /** The result of that code. */
  codeExecutionResult?: CodeExecutionResult;
  /** The section and frame rate of a video. */
  videoMetadata?: object;
  /** Your own data about the part. */
  partMetadata?: Record<string, unknown>;
}

/**
 * One message.
 *
 * @example
 * ```ts
 * import type { Content } from 'adk-session-wasm';
 *
 * const content: Content = { role: 'user', parts: [{ text: 'hello' }] };
 * ```
 */
export interface Content {
  /** `'user'` or `'model'`. */
  role?: string;
  /** The parts of the message, in order. */
  parts?: Part[];
}

/**
 * How a tool authenticates: an OpenAPI 3 security scheme.
 *
 * @example
 * ```ts
 * import type { AuthScheme } from 'adk-session-wasm';
 *
 * const scheme: AuthScheme = { type: 'http', scheme: 'bearer' };
 * ```
 */
export type AuthScheme =
  | {
      /** A key that is sent with each request. */
      type: 'apiKey';
      /** The name of the header, parameter or cookie. */
      name: string;
      /** `'header'`, `'query'` or `'cookie'`. */
      in: string;
      /** A text for people. */
      description?: string;
    }
  | {
      /** The header `Authorization`. */
      type: 'http';
      /** `'basic'`, `'bearer'` or another registered name. */
      scheme: string;
      /** The form of the bearer token, such as `'JWT'`. */
      bearerFormat?: string;
      /** A text for people. */
      description?: string;
    }
  | {
      /** OAuth 2. */
      type: 'oauth2';
      /** The supported flows with their URLs and scopes. */
      flows: object;
      /** A text for people. */
      description?: string;
    }
  | {
      /** OpenID Connect. */
      type: 'openIdConnect';
      /** The URL of its discovery document. */
      openIdConnectUrl: string;
      /** A text for people. */
      description?: string;
    };

/**
 * A tool's request for a credential. Do not store credentials themselves in a session.
 *
 * @example
 * ```ts
 * import type { AuthConfig } from 'adk-session-wasm';
 *
 * const config: AuthConfig = {
 *   authScheme: { type: 'http', scheme: 'bearer' },
 *   credentialKey: 'calendar',
 * };
 * ```
 */
export interface AuthConfig {
  /** How the tool authenticates. */
  authScheme: AuthScheme;
  /** The name under which the credential is kept. */
  credentialKey: string;
}

/**
 * A tool's request to be confirmed by the user.
 *
 * @example
 * ```ts
 * import type { ToolConfirmation } from 'adk-session-wasm';
 *
 * const question: ToolConfirmation = { hint: 'Pay 12 euros?', confirmed: false };
 * ```
 */
export interface ToolConfirmation {
  /** The question to show to the user. */
  hint: string;
  /** Whether the user has agreed. */
  confirmed: boolean;
  /** Further data for the tool. */
  payload?: unknown;
}

/**
 * The effects of an event besides its content.
 *
 * @example
 * ```ts
 * import { createEventActions, type EventActions } from 'adk-session-wasm';
 *
 * const actions: EventActions = createEventActions({ stateDelta: { 'user:name': 'Ada' } });
 * ```
 */
export interface EventActions {
  /**
   * The changes to the state, by key with prefix. `undefined` and `State.REMOVED` remove a key;
   * `temp:` keys are not stored.
   */
  stateDelta: Record<string, unknown>;
  /** File name → version, counted from 0. */
  artifactDelta: Record<string, number>;
  /** Function call id → the requested credential. */
  requestedAuthConfigs: Record<string, AuthConfig>;
  /** Function call id → the requested confirmation. */
  requestedToolConfirmations: Record<string, ToolConfirmation>;
  /** Whether a function's response is the final answer, without a summary by the model. */
  skipSummarization?: boolean;
  /** The name of the agent that takes over. */
  transferToAgent?: string;
  /** Whether the agent hands over to its parent agent. */
  escalate?: boolean;
  /** Workflow: a checkpoint to resume from. */
  agentState?: Record<string, unknown>;
  /** Workflow: whether the agent has finished in this invocation. */
  endOfAgent?: boolean;
}

/**
 * Workflow: the node that an event comes from.
 *
 * @example
 * ```ts
 * import type { NodeInfo } from 'adk-session-wasm';
 *
 * const node: NodeInfo = { path: 'root.review' };
 * ```
 */
export interface NodeInfo {
  /** The node's path in the workflow. */
  path?: string;
  /** The paths of the nodes that get the output. */
  outputFor?: string[];
  /** Whether the event's message is the node's output. */
  messageAsOutput?: boolean;
}

/**
 * One step of a conversation, as in `@google/adk`. Further fields are allowed and stored unchanged
 * if JSON can represent them.
 *
 * @example
 * ```ts
 * import { createEvent, type Event } from 'adk-session-wasm';
 *
 * const event: Event = createEvent({ author: 'user', content: { parts: [{ text: 'hi' }] } });
 * ```
 */
export interface Event {
  /** Unique within its session. If it is empty, appending the event sets a UUID. */
  id: string;
  /** The same for all events from one user message to the final answer. */
  invocationId: string;
  /** `'user'`, or the agent's name. */
  author?: string;
  /** The effects of the event, above all its changes to the state. */
  actions: EventActions;
  /** Milliseconds since 1970, 0 to 253402300799999; fractions are kept. */
  timestamp: number;
  /** What was said, called or answered. */
  content?: Content;
  /** Whether this is a piece of a streamed text. Such an event is never stored. */
  partial?: boolean;
  /** Live: whether the model has finished its turn. */
  turnComplete?: boolean;
  /** Live: whether the user has interrupted the model. */
  interrupted?: boolean;
  /** The model's error code, if it failed. */
  errorCode?: string;
  /** The model's error message, if it failed. */
  errorMessage?: string;
  /** The ids of the calls in `content` that keep running after this turn. */
  longRunningToolIds?: string[];
  /**
   * The path of agents down to this one: `root.child`. Sibling agents do not see each other's
   * branches.
   */
  branch?: string;
  /** Your own data about the event. */
  customMetadata?: Record<string, unknown>;
  /** The sources of the answer. */
  groundingMetadata?: object;
  /** The citations in the answer. */
  citationMetadata?: object;
  /** The numbers of tokens used. */
  usageMetadata?: object;
  /** Live: a handle to resume the connection. */
  liveSessionResumptionUpdate?: object;
  /** Live: the server will close the connection soon. */
  goAway?: object;
  /** Live: the text of what the user said. */
  inputTranscription?: object;
  /** Live: the text of what the model said. */
  outputTranscription?: object;
  /** The id of the interaction at the model. */
  interactionId?: string;
  /** The version of the model that answered. */
  modelVersion?: string;
  /** Live: the id of the connection. */
  liveSessionId?: string;
  /** Workflow: the node's result. */
  output?: unknown;
  /** Workflow: the route to take next. */
  route?: string | number | boolean | (string | number | boolean)[];
  /** Workflow: the node that the event comes from. */
  nodeInfo?: NodeInfo;
  /** Workflow: events of other scopes are not shown to the node. */
  isolationScope?: string;
}

/** The fields that an append sets if they are absent. */
type FilledField = 'id' | 'timestamp' | 'actions';

/**
 * An event to append. `id`, `timestamp` and `actions` may be absent: the append sets them.
 *
 * @example
 * ```ts
 * import type { NewEvent } from 'adk-session-wasm';
 *
 * const event: NewEvent = { invocationId: 'e1', author: 'user', content: { parts: [{ text: 'hi' }] } };
 * ```
 */
export interface NewEvent extends Omit<Event, FilledField> {
  /** Default (also for `''`): a UUID. */
  id?: string | undefined;
  /** Milliseconds since 1970. Default: now. */
  timestamp?: number | undefined;
  /** Default: empty actions. */
  actions?: EventActions | undefined;
}

/**
 * An event of type `E` after its append: with `id`, `timestamp` and `actions`.
 *
 * @example
 * ```ts
 * import type { AppendedEvent } from 'adk-session-wasm';
 *
 * interface Rated {
 *   invocationId: string;
 *   rating: number;
 * }
 * const summary = ({ id, rating }: AppendedEvent<Rated>) => `${id}: ${rating}`;
 * ```
 */
export type AppendedEvent<E extends NewEvent> = E & Pick<Event, FilledField>;

/**
 * The parameter of {@link createEventActions}: any of the fields.
 *
 * @example
 * ```ts
 * import type { CreateEventActionsParams } from 'adk-session-wasm';
 *
 * const params: CreateEventActionsParams = { transferToAgent: 'cashier' };
 * ```
 */
export type CreateEventActionsParams = { [K in keyof EventActions]?: EventActions[K] | undefined };

/**
 * The parameter of {@link createEvent}: any of the fields, partial `actions`, and fields of your
 * own.
 *
 * @example
 * ```ts
 * import type { CreateEventParams } from 'adk-session-wasm';
 *
 * const params: CreateEventParams = { author: 'user', content: { parts: [{ text: 'hi' }] } };
 * ```
 */
export type CreateEventParams = {
  [K in Exclude<keyof Event, 'actions'>]?: Event[K] | undefined;
} & {
  /** Any of the actions' fields. */
  actions?: CreateEventActionsParams | undefined;
};

/**
 * Returns a UUID v4, for an event without an id.
 *
 * @example
 * ```ts
 * const id = newEventId(); // '0b8a5f0e-3c1d-4e57-9a64-5d2f1c7b8e90'
 * ```
 */
export function newEventId(): string {
  // Browsers have randomUUID only in secure contexts; a page on http://192.168.… lacks it.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Removes members that are `undefined`: JSON has none, but `Object.keys` would list them. */
function withoutUndefined<T extends object>(given: T): T {
  const value = ownMembers(given);
  for (const key of Object.keys(value) as (keyof T)[]) {
    if (value[key] === undefined) delete value[key];
  }
  return value;
}

/**
 * Creates actions with all four maps set.
 *
 * @param params any of the fields. The state delta is copied one level deep, because contexts go on
 *   writing to their own delta.
 *
 * @example
 * ```ts
 * import { createEventActions } from 'adk-session-wasm';
 *
 * createEventActions({ escalate: true }).artifactDelta; // {}
 * ```
 */
export function createEventActions(params: CreateEventActionsParams = {}): EventActions {
  const given = withoutUndefined(params) as Partial<EventActions>;
  const actions: EventActions = {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    ...given,
  };
  // A spread defines properties, so that a key named `__proto__` stays a key.
  actions.stateDelta = { ...given.stateDelta };
  return actions;
}

/**
 * Creates an event with id, timestamp and actions.
 *
 * @param params any of the fields, and fields of your own, which the result's type then has.
 *   Defaults, also for `undefined`: `id` is a UUID v4 (also for `''`), `timestamp` is now,
 *   `invocationId` is `''`, `actions` are empty. `params` is not changed, and its delta is not
 *   shared.
 *
 * @example
 * ```ts
 * import { createEvent } from 'adk-session-wasm';
 *
 * const event = createEvent({
 *   author: 'shop_agent',
 *   content: { role: 'model', parts: [{ text: 'Welcome back!' }] },
 *   actions: { stateDelta: { 'user:visits': 2 } },
 * });
 * ```
 */
export function createEvent<P extends CreateEventParams = CreateEventParams>(
  params?: P,
): Event & Omit<P, keyof Event> {
  const given: CreateEventParams = withoutUndefined<CreateEventParams>(params ?? {});
  const id = given.id ?? '';
  const event: unknown = {
    ...given,
    id: id === '' ? newEventId() : id,
    invocationId: given.invocationId ?? '',
    actions: createEventActions(given.actions),
    timestamp: given.timestamp ?? Date.now(),
  };
  return event as Event & Omit<P, keyof Event>;
}

/**
 * Returns whether the event is an agent's final response, by the rule of `@google/adk`.
 *
 * It is one if it skips summarisation, has long running tools or asks for credentials. Otherwise it
 * must not be partial, hold no function call or response, and not end with a code execution result.
 * A `null` in JSON from Python counts as absent.
 *
 * @example
 * ```ts
 * import { createEvent, isFinalResponse } from 'adk-session-wasm';
 *
 * isFinalResponse(createEvent({ content: { parts: [{ text: 'Done.' }] } })); // true
 * isFinalResponse(createEvent({ content: { parts: [{ functionCall: { name: 'f' } }] } })); // false
 * ```
 */
export function isFinalResponse(event: Event): boolean {
  // `actions` may be missing on an event that is not appended yet or comes from JSON.
  const actions = event.actions as Partial<EventActions> | undefined | null;
  if (actions?.skipSummarization) return true;
  if ((event.longRunningToolIds?.length ?? 0) > 0) return true;
  if (Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0) return true;
  if (event.partial) return false;
  const parts = event.content?.parts ?? [];
  if (parts.some((part) => part.functionCall ?? part.functionResponse)) return false;
  return (parts[parts.length - 1]?.codeExecutionResult ?? undefined) === undefined;
}

/**
 * Returns the text of a final response: its text parts joined, without thoughts. An agent's
 * `outputKey` stores this text in the state.
 *
 * @returns `undefined` if the event is not a final response, is partial, or has no text
 *
 * @example
 * ```ts
 * import { createEvent, finalResponseText } from 'adk-session-wasm';
 *
 * finalResponseText(createEvent({ content: { parts: [{ text: 'Hel' }, { text: 'lo' }] } })); // 'Hello'
 * ```
 */
export function finalResponseText(event: Event): string | undefined {
  if (event.partial || !isFinalResponse(event)) return undefined;
  let text = '';
  for (const part of event.content?.parts ?? []) {
    if (!part.thought && typeof part.text === 'string') text += part.text;
  }
  return text === '' ? undefined : text;
}
