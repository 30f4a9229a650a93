// The messages of the API with their fields. The server refuses all other names.

/**
 * - `struct`: any JSON object; its keys are the caller's own.
 * - `opaque`: a message whose fields are not checked here.
 */
export type Kind =
  | 'string'
  | 'boolean'
  | 'number'
  | 'bytes'
  | 'timestamp'
  | 'struct'
  | 'opaque'
  | { readonly map: 'string' | 'number' }
  | { readonly list: Kind }
  | Message;

export interface Message {
  readonly fields: Readonly<Record<string, Kind>>;
}

const CONTENT: Message = {
  fields: {
    role: 'string',
    // Without partMetadata, toolCall and toolResponse, which only the Gemini Developer API has.
    parts: {
      list: {
        fields: {
          text: 'string',
          thought: 'boolean',
          thoughtSignature: 'bytes',
          inlineData: { fields: { mimeType: 'string', data: 'bytes', displayName: 'string' } },
          fileData: { fields: { mimeType: 'string', fileUri: 'string', displayName: 'string' } },
          functionCall: {
            fields: {
              id: 'string',
              name: 'string',
              args: 'struct',
              partialArgs: { list: 'opaque' },
              willContinue: 'boolean',
            },
          },
          functionResponse: {
            fields: {
              id: 'string',
              name: 'string',
              response: 'struct',
              parts: { list: 'opaque' },
              scheduling: 'string',
              willContinue: 'boolean',
            },
          },
          executableCode: { fields: { id: 'string', language: 'string', code: 'string' } },
          codeExecutionResult: { fields: { id: 'string', outcome: 'string', output: 'string' } },
          videoMetadata: { fields: { startOffset: 'string', endOffset: 'string', fps: 'number' } },
          mediaResolution: 'opaque',
          mediaProcessing: 'opaque',
          audioTranscription: 'opaque',
          speechMetadata: 'opaque',
        },
      },
    },
  },
};

const TRANSCRIPTION: Message = { fields: { text: 'string', finished: 'boolean' } };

export const SESSION_EVENT: Message = {
  fields: {
    name: 'string',
    author: 'string',
    invocationId: 'string',
    timestamp: 'timestamp',
    content: CONTENT,
    errorCode: 'string',
    errorMessage: 'string',
    rawEvent: 'struct',
    actions: {
      fields: {
        skipSummarization: 'boolean',
        stateDelta: 'struct',
        artifactDelta: { map: 'number' },
        escalate: 'boolean',
        requestedAuthConfigs: 'struct',
        transferAgent: 'string',
      },
    },
    eventMetadata: {
      fields: {
        groundingMetadata: 'opaque',
        partial: 'boolean',
        turnComplete: 'boolean',
        interrupted: 'boolean',
        longRunningToolIds: { list: 'string' },
        branch: 'string',
        customMetadata: 'struct',
        inputTranscription: TRANSCRIPTION,
        outputTranscription: TRANSCRIPTION,
      },
    },
  },
};

export const SESSION: Message = {
  fields: {
    name: 'string',
    createTime: 'timestamp',
    updateTime: 'timestamp',
    expireTime: 'timestamp',
    ttl: 'string',
    displayName: 'string',
    labels: { map: 'string' },
    sessionState: 'struct',
    userId: 'string',
  },
};
