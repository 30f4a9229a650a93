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
import type { Content } from './content.js';

/** How a tool authenticates: an OpenAPI 3 security scheme. */
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

/** A tool's request for a credential. Do not store credentials themselves in a session. */
export interface AuthConfig {
  /** How the tool authenticates. */
  authScheme: AuthScheme;
  /** The name under which the credential is kept. */
  credentialKey: string;
}

/** A tool's request to be confirmed by the user. */
export interface ToolConfirmation {
  /** The question to show to the user. */
  hint: string;
  /** Whether the user has agreed. */
  confirmed: boolean;
  /** Further data for the tool. */
  payload?: unknown;
}

/** The effects of an event besides its content. */
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

/** Workflow: the node that an event comes from. */
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
  /** Whether this is a part of a streamed text. Such an event is never stored. */
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

/** The fields of an event that its append sets: a content too that may be a text. */
type SetField<E extends NewEvent> =
  FilledField | ([Extract<E['content'], string>] extends [never] ? never : 'content');

/** An event to append. `id`, `timestamp` and `actions` may be absent, and `content` a text: the append sets them. */
export interface NewEvent extends Omit<Event, FilledField | 'content'> {
  /** Default (also for `''`): a UUID. */
  id?: string | undefined;
  /** Milliseconds since 1970. Default: now. */
  timestamp?: number | undefined;
  /** Default: empty actions. */
  actions?: EventActions | undefined;
  /**
   * What was said, called or answered. A text becomes `{ role, parts: [{ text }] }`, with the role `user` if the author
   * is `'user'`, and otherwise `model`.
   */
  content?: Content | string | undefined;
}

/**
 * An event of type `E` after its append: with `id`, `timestamp` and `actions`, also where `E` has them as
 * `undefined`.
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
export type AppendedEvent<E extends NewEvent> = (E extends {
  [F in FilledField]: Record<F, undefined>;
}[FilledField]
  ? Omit<E, SetField<E>>
  : 'content' extends SetField<E>
    ? Omit<E, 'content'>
    : E) &
  Pick<Event, SetField<E>>;
