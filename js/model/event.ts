/**
 * Events in the shape of the ADK's TypeScript package.
 *
 * The types are our own, so that nobody needs `@google/adk` or `@google/genai` to compile, and
 * assignable both ways with theirs. That is why fields whose type is an enum of `@google/genai`
 * (`finishReason`, a part's `mediaResolution`, `mediaProcessing`, `executableCode.language`, …) are
 * not declared here: a `string` would make our event unfit for the ADK, and a nominal enum cannot
 * be written without importing it. They are kept all the same, as every unknown field is.
 */
import { ownMembers } from '../members/own.js';

/** A file's bytes within a {@link Part}. */
export interface InlineData {
  /** Base64. */
  data?: string;
  /** IANA media type, like `image/png`. */
  mimeType?: string;
  /** What to call it on screen. */
  displayName?: string;
}

/** A file somewhere else, named by a {@link Part}. */
export interface FileData {
  fileUri?: string;
  /** IANA media type. */
  mimeType?: string;
  /** What to call it on screen. */
  displayName?: string;
}

/** The model's wish to have a function called. */
export interface FunctionCall {
  /** What the {@link FunctionResponse} must repeat. */
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** What a function answered. */
export interface FunctionResponse {
  /** The id of its {@link FunctionCall}. */
  id?: string;
  name?: string;
  response?: Record<string, unknown>;
}

/** Code that the model wants to have run. */
export interface ExecutableCode {
  id?: string;
  code?: string;
}

/** What running an {@link ExecutableCode} gave. */
export interface CodeExecutionResult {
  id?: string;
  /** Standard output, or what went wrong. */
  output?: string;
}

/**
 * One piece of a {@link Content}: a text, a file, a function call or its response, code or its
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
  text?: string;
  /** The text is the model's reasoning, not its answer. */
  thought?: boolean;
  /** Base64; the model wants it back. */
  thoughtSignature?: string;
  inlineData?: InlineData;
  fileData?: FileData;
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  executableCode?: ExecutableCode;
  codeExecutionResult?: CodeExecutionResult;
  videoMetadata?: object;
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
  parts?: Part[];
}

/** How a tool wants to be authorised: an OpenAPI 3 security scheme. */
export type AuthScheme =
  | { type: 'apiKey'; name: string; in: string; description?: string }
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | { type: 'oauth2'; flows: object; description?: string }
  | { type: 'openIdConnect'; openIdConnectUrl: string; description?: string };

/** A tool's request for a credential. Credentials themselves do not belong into a session. */
export interface AuthConfig {
  authScheme: AuthScheme;
  credentialKey: string;
}

/** A tool's request to be confirmed by the user. */
export interface ToolConfirmation {
  hint: string;
  confirmed: boolean;
  payload?: unknown;
}

/**
 * What an event does beside saying something.
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
  /** File name → version, from 0. */
  artifactDelta: Record<string, number>;
  /** Function call id → what the tool asks for. */
  requestedAuthConfigs: Record<string, AuthConfig>;
  /** Function call id → what the tool asks for. */
  requestedToolConfirmations: Record<string, ToolConfirmation>;
  /** A function's response is the answer; the model is not asked to phrase it. */
  skipSummarization?: boolean;
  /** The agent that takes over. */
  transferToAgent?: string;
  /** The agent hands over to the one above it. */
  escalate?: boolean;
  /** Workflow: a checkpoint to resume from. */
  agentState?: Record<string, unknown>;
  /** Workflow: the agent is done in this invocation. */
  endOfAgent?: boolean;
}

/** Workflow: which node an event comes from. */
export interface NodeInfo {
  path?: string;
  outputFor?: string[];
  messageAsOutput?: boolean;
}

/**
 * One step of a conversation, as `@google/adk` has it. Further fields are allowed and kept to the
 * letter, as long as JSON can say them.
 *
 * @example
 * ```ts
 * import { createEvent, type Event } from 'adk-session-wasm';
 *
 * const event: Event = createEvent({ author: 'user', content: { parts: [{ text: 'hi' }] } });
 * ```
 */
export interface Event {
  /** Unique within its session. Left empty, appending the event fills it with a UUID. */
  id: string;
  /** From one user message to the final answer it is the same. */
  invocationId: string;
  /** `'user'`, or the agent's name. */
  author?: string;
  actions: EventActions;
  /** Milliseconds since 1970, 0 to 253402300799999; fractions are kept. */
  timestamp: number;
  content?: Content;
  /** A piece of a streamed text: shown, never stored. */
  partial?: boolean;
  turnComplete?: boolean;
  interrupted?: boolean;
  errorCode?: string;
  errorMessage?: string;
  /** Which of the calls in `content` go on after this turn, by id. */
  longRunningToolIds?: string[];
  /** The agents down to this one: `root.child`. Peers do not see each other's branches. */
  branch?: string;
  customMetadata?: Record<string, unknown>;
  groundingMetadata?: object;
  citationMetadata?: object;
  usageMetadata?: object;
  liveSessionResumptionUpdate?: object;
  goAway?: object;
  inputTranscription?: object;
  outputTranscription?: object;
  interactionId?: string;
  modelVersion?: string;
  liveSessionId?: string;
  /** Workflow: what the node returned. */
  output?: unknown;
  /** Workflow: which way on. */
  route?: string | number | boolean | (string | number | boolean)[];
  nodeInfo?: NodeInfo;
  isolationScope?: string;
}

/** What {@link createEventActions} takes: any of the fields. */
export type CreateEventActionsParams = { [K in keyof EventActions]?: EventActions[K] | undefined };

/** What {@link createEvent} takes: any of the fields, `actions` in part, and fields of your own. */
export type CreateEventParams = {
  [K in Exclude<keyof Event, 'actions'>]?: Event[K] | undefined;
} & { actions?: CreateEventActionsParams | undefined };

/**
 * The UUID v4 that an event gets which has no id.
 *
 * @example
 * ```ts
 * const id = newEventId(); // '0b8a5f0e-3c1d-4e57-9a64-5d2f1c7b8e90'
 * ```
 */
export function newEventId(): string {
  // Browsers have randomUUID in secure contexts only; a page on http://192.168.… has none.
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Takes out members that are `undefined`: they would show in `Object.keys`, and JSON has none. */
function withoutUndefined<T extends object>(given: T): T {
  const value = ownMembers(given);
  for (const key of Object.keys(value) as (keyof T)[]) {
    if (value[key] === undefined) delete value[key];
  }
  return value;
}

/**
 * Actions with all four maps in place.
 *
 * @param params any of the fields. The state delta is copied (one level), so that the event's is
 *   its own: contexts go on writing to theirs.
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
  // A spread defines properties, so that a key called `__proto__` stays a key.
  actions.stateDelta = { ...given.stateDelta };
  return actions;
}

/**
 * An event with id, timestamp and actions filled in.
 *
 * @param params any of the fields, and fields of your own, which the result's type then has. Not
 *   given or `undefined`: `id` is a UUID v4 (also for `''`), `timestamp` is now, `invocationId` is
 *   `''`, `actions` are empty. `params` itself is not changed, and its delta not shared.
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
 * Whether the event is an agent's final response, by `@google/adk`'s rule.
 *
 * True if it skips summarisation, has long running tools or asks for credentials; else if it is not
 * partial, neither calls a function nor answers one, and does not end with the result of a code
 * execution. A `null` where JSON from Python has one counts as absent.
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
  // `actions` may be missing on an event which is not appended yet, or comes from JSON.
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
 * The text of a final response: its text parts joined, thoughts left out. It is what an agent's
 * `outputKey` puts into the state.
 *
 * @returns `undefined` if the event is no final response, is partial, or has no text
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
