/** The content of an event, in the shape of the ADK's TypeScript package. */

/** The bytes of a file in a {@link Part}. */
export interface InlineData {
  /** Base64. */
  data?: string;
  /** IANA media type, like `image/png`. */
  mimeType?: string;
  /** The name to show to people. */
  displayName?: string;
}

/** A file stored elsewhere, referenced by a {@link Part}. */
export interface FileData {
  /** Its URI, like `gs://bucket/tea.pdf`. */
  fileUri?: string;
  /** IANA media type. */
  mimeType?: string;
  /** The name to show to people. */
  displayName?: string;
}

/** A function call that the model asks for. */
export interface FunctionCall {
  /** The {@link FunctionResponse} must repeat this id. */
  id?: string;
  /** The function's name. */
  name?: string;
  /** The arguments by name. */
  args?: Record<string, unknown>;
}

/** The result of a function call. */
export interface FunctionResponse {
  /** The id of its {@link FunctionCall}. */
  id?: string;
  /** The function's name. */
  name?: string;
  /** The result, or `{ error }`. */
  response?: Record<string, unknown>;
}

/** Code that the model asks to run. */
export interface ExecutableCode {
  /** The result repeats this id. */
  id?: string;
  /** The source text. */
  code?: string;
}

/** The result of running code. */
export interface CodeExecutionResult {
  /** The id of the code that was run. */
  id?: string;
  /** Standard output, or an error message. */
  output?: string;
}

/**
 * One part of a {@link Content}: a text, a file, a function call or its response, code or its
 * result.
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

/** One message. */
export interface Content {
  /** `'user'` or `'model'`. */
  role?: string;
  /** The parts of the message, in order. */
  parts?: Part[];
}
