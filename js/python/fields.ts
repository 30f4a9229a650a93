/**
 * The known fields of the ADKs' sessions and events, by their place. The place tells a field's name from
 * users' data: below `stateDelta` a key is the user's, below `usageMetadata` it is the API's.
 *
 * This is a table and not a rule on letters (`a_b` ↔ `aB`). A rule would rename fields that the ADK does not
 * know, such as `my_field` in a camelCase event, and names in users' data.
 */

/**
 * The structure of a value. `'data'` is kept exactly, at every depth. Otherwise: the shapes of the known
 * members, by camelCase name. The items of a list have the shape of the list.
 */
export type Shape = 'data' | Fields;

/** See {@link Shape}. */
export interface Fields {
  readonly members: ReadonlyMap<string, Shape>;
  /** Maps snake_case names to camelCase names, for members whose two names differ. */
  readonly camelNames: ReadonlyMap<string, string>;
}

/**
 * Returns the snake_case name of a field: `toolUsePromptTokenCount` becomes `tool_use_prompt_token_count`.
 */
export function snakeName(camelName: string): string {
  return camelName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * @param data names of members that are data or plain values, separated by spaces
 * @param members shapes of the other members
 */
function fields(data: string, members: Readonly<Record<string, Shape>> = {}): Fields {
  const shapes = new Map<string, Shape>(Object.entries(members));
  for (const name of words(data)) shapes.set(name, 'data');
  return { members: shapes, camelNames: camelNames(shapes.keys()) };
}

function camelNames(names: Iterable<string>): Map<string, string> {
  const pairs = [...names].map((name): [string, string] => [snakeName(name), name]);
  return new Map(pairs.filter(([snake, camel]) => snake !== camel));
}

/** Splits a text at white space. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Fields of messages of the model's API. They may hold each other, and no users' data. */
const MESSAGE_FIELDS = `
  audioOffset authorAttribution boolValue cacheName cacheTokensDetails cachedContentTokenCount candidates
  candidatesTokenCount candidatesTokensDetails chosenCandidates chunkId citations code confidenceScores
  contentsCount createdAt customMetadata data day displayName distanceMeters documentName domain duration
  encodedPolyline endIndex endOffset expireTime fileData fileId fileSearchStore fileUri fingerprint finished
  firstPage flagContentUri fps googleMapsUri googleMapsWidgetContextToken googleSearchDynamicRetrievalScore
  groundingChunkIndices groundingChunks groundingSupports id image imageSearchQueries imageUri
  initialPromptTokenCount inlineData invocationsUsed jsonPath key language languageCode
  lastConsumedClientMessageIndex lastPage level license logProbability logProbabilitySum maps mediaId
  mediaProcessing mediaResolution messageAsOutput mimeType modality month newHandle nullValue numTokens
  numberValue numericValue outcome output outputFor pageNumber pageSpan partIndex path photoUri
  placeAnswerSources placeId promptTokenCount promptTokensDetails publicationDate ragChunk
  relativePublishTimeDescription renderedContent renderedParts responseTokenCount responseTokensDetails
  resumable retrievalMetadata retrievalQueries retrievedContext review reviewId reviewSnippet
  reviewSnippets route sdkBlob searchEntryPoint segment serviceTier sourceFlaggingUris sourceId sourceUri
  speaker speakerLabel startIndex startOffset stringListValue stringValue style text thoughtsTokenCount
  timeLeft title token tokenCount tokenId toolUsePromptTokenCount toolUsePromptTokensDetails topCandidates
  totalTokenCount trafficType uri values voiceActivityType web webSearchQueries willContinue word words year`;

const messageMembers = new Map<string, Shape>();
const MESSAGE: Fields = {
  members: messageMembers,
  camelNames: camelNames(words(MESSAGE_FIELDS)),
};
for (const name of words(MESSAGE_FIELDS)) messageMembers.set(name, MESSAGE);

const PART = fields('text thought thoughtSignature partMetadata mediaProcessing', {
  inlineData: MESSAGE,
  fileData: MESSAGE,
  videoMetadata: MESSAGE,
  speechMetadata: MESSAGE,
  mediaResolution: MESSAGE,
  executableCode: MESSAGE,
  codeExecutionResult: MESSAGE,
  audioTranscription: MESSAGE,
  functionCall: fields('id name args willContinue', { partialArgs: MESSAGE }),
  functionResponse: fields('id name response willContinue scheduling', { parts: MESSAGE }),
  toolCall: fields('id toolType args'),
  toolResponse: fields('id toolType response'),
});

const CONTENT = fields('role', { parts: PART });

const ACTIONS = fields(
  `stateDelta artifactDelta requestedAuthConfigs requestedToolConfirmations agentState setModelResponse
   customMetadata route skipSummarization transferToAgent transferReason escalate endOfAgent
   rewindBeforeInvocationId`,
  {
    compaction: fields('startTimestamp endTimestamp', { compactedContent: CONTENT }),
    renderUiWidgets: fields('id provider payload'),
  },
);

/** An event, of `@google/adk` or google-adk for Python. */
export const EVENT: Fields = fields(
  `id invocationId author branch timestamp partial turnComplete turnCompleteReason interrupted
   interactionStatus finishReason errorCode errorMessage longRunningToolIds customMetadata interactionId
   environmentId modelVersion liveSessionId avgLogprobs output route isolationScope isCompacted startTime
   endTime compactedContent isScratchpad`,
  {
    content: CONTENT,
    actions: ACTIONS,
    groundingMetadata: MESSAGE,
    citationMetadata: MESSAGE,
    usageMetadata: MESSAGE,
    cacheMetadata: MESSAGE,
    logprobsResult: MESSAGE,
    goAway: MESSAGE,
    liveSessionResumptionUpdate: MESSAGE,
    voiceActivity: MESSAGE,
    inputTranscription: MESSAGE,
    outputTranscription: MESSAGE,
    nodeInfo: MESSAGE,
  },
);

/** A session. */
export const SESSION: Fields = fields('id appName userId state lastUpdateTime initialState', {
  events: EVENT,
});
