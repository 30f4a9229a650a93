/**
 * The fields and values that google-adk for Python accepts in an event, taken from its pydantic models.
 *
 * Most models forbid unknown fields, and one refused field makes the whole session unreadable in Python. So
 * this table decides what is written for Python. It names only values that Python accepts unchanged: pydantic
 * also accepts `"12"` as a number, which we leave out.
 *
 * A test compares the table with the models of the installed package.
 */

import { snakeName, words } from './names.js';

/**
 * A value that has no fields of the ADK:
 *
 * - `text` (also for enums, since Python accepts any value of them), `flag`, `integer`, `float`
 * - `count`: an integer from 0 · `time`: a float, which our events have in milliseconds and Python in seconds
 * - `bytes`: text in base64
 * - `null value`: the text `NULL_VALUE`
 * - `data`: any JSON · `record`: an object of any JSON · `delta`: a `record` whose values may be removals
 * - `route`: a flag, an integer, a text, or a list of those
 * - `auth config`: see `python_auth.ts`
 */
export type Leaf =
  | 'text'
  | 'flag'
  | 'integer'
  | 'count'
  | 'float'
  | 'time'
  | 'bytes'
  | 'null value'
  | 'data'
  | 'record'
  | 'delta'
  | 'route'
  | 'auth config';

/** A list of values of one kind. */
export interface List {
  readonly list: Accepted;
}

/** An object with any keys, and values of one kind. */
export interface Dictionary {
  readonly values: Accepted;
}

/** An object with fields. */
export interface Model {
  /** The members by camelCase name. */
  readonly members: ReadonlyMap<string, Field>;
  /** snake_case names of the members that Python requires. */
  readonly required: readonly string[];
  /** snake_case names of members that must all be present or all be absent. */
  readonly requiredTogether: readonly string[];
}

/** A member of a {@link Model}. */
export interface Field {
  readonly snakeName: string;
  readonly accepted: Accepted;
}

/** The values that Python accepts in one place. */
export type Accepted = Leaf | List | Dictionary | Model;

/** The names of a model's members, separated by spaces, grouped by kind. */
type NamesByLeaf = Partial<Record<Leaf, string>>;

interface Conditions {
  readonly required?: string;
  readonly requiredTogether?: string;
}

export function model(
  namesByLeaf: NamesByLeaf,
  members: Readonly<Record<string, Accepted>> = {},
  { required = '', requiredTogether = '' }: Conditions = {},
): Model {
  const acceptedByName = Object.entries(members);
  for (const [leaf, names] of Object.entries(namesByLeaf)) {
    for (const name of words(names)) acceptedByName.push([name, leaf as Leaf]);
  }
  return {
    members: new Map(
      acceptedByName.map(([name, accepted]) => [name, { snakeName: snakeName(name), accepted }]),
    ),
    required: words(required).map(snakeName),
    requiredTogether: words(requiredTogether).map(snakeName),
  };
}

const listOf = (list: Accepted): List => ({ list });
const dictionaryOf = (values: Accepted): Dictionary => ({ values });

const BLOB = model({ bytes: 'data', text: 'displayName mimeType' });
const FILE = model({ text: 'displayName fileUri mimeType' });

const WORD = model({ text: 'word startOffset endOffset' });
const TRANSCRIPTION = model(
  { text: 'text languageCode speakerLabel startOffset endOffset', flag: 'finished' },
  { words: listOf(WORD) },
);

const PARTIAL_ARGUMENT = model({
  flag: 'boolValue willContinue',
  text: 'jsonPath stringValue',
  'null value': 'nullValue',
  float: 'numberValue',
});
const FUNCTION_CALL = model(
  { text: 'id name', record: 'args', flag: 'willContinue' },
  { partialArgs: listOf(PARTIAL_ARGUMENT) },
);
const FUNCTION_RESPONSE_PART = model(
  { text: 'mediaProcessing' },
  { inlineData: BLOB, fileData: FILE },
);
const FUNCTION_RESPONSE = model(
  { text: 'id name scheduling', record: 'response', flag: 'willContinue' },
  { parts: listOf(FUNCTION_RESPONSE_PART) },
);

const PART = model(
  {
    text: 'text mediaProcessing',
    flag: 'thought',
    bytes: 'thoughtSignature',
    record: 'partMetadata',
  },
  {
    mediaResolution: model({ text: 'level', integer: 'numTokens' }),
    codeExecutionResult: model({ text: 'outcome output id' }),
    executableCode: model({ text: 'code language id' }),
    fileData: FILE,
    functionCall: FUNCTION_CALL,
    functionResponse: FUNCTION_RESPONSE,
    inlineData: BLOB,
    videoMetadata: model({ text: 'endOffset startOffset', float: 'fps' }),
    toolCall: model({ text: 'id toolType', record: 'args' }),
    toolResponse: model({ text: 'id toolType', record: 'response' }),
    audioTranscription: TRANSCRIPTION,
    speechMetadata: model({ text: 'speaker style' }),
  },
);
const CONTENT = model({ text: 'role' }, { parts: listOf(PART) });

const AUTHOR_ATTRIBUTION = model({ text: 'displayName photoUri uri' });
const REVIEW_SNIPPETS = listOf(
  model(
    { text: 'flagContentUri googleMapsUri relativePublishTimeDescription review reviewId title' },
    { authorAttribution: AUTHOR_ATTRIBUTION },
  ),
);
const MAPS_CHUNK = model(
  { text: 'placeId text title uri' },
  {
    placeAnswerSources: model(
      { text: 'flagContentUri' },
      { reviewSnippet: REVIEW_SNIPPETS, reviewSnippets: REVIEW_SNIPPETS },
    ),
    route: model({ integer: 'distanceMeters', text: 'duration encodedPolyline' }),
  },
);
const RAG_CHUNK = model(
  { text: 'text chunkId fileId' },
  { pageSpan: model({ integer: 'firstPage lastPage' }) },
);
const RETRIEVED_METADATA = model(
  { text: 'key stringValue', float: 'numericValue' },
  { stringListValue: model({}, { values: listOf('text') }) },
);
const RETRIEVED_CONTEXT = model(
  { text: 'documentName text title uri fileSearchStore mediaId', integer: 'pageNumber' },
  { ragChunk: RAG_CHUNK, customMetadata: listOf(RETRIEVED_METADATA) },
);
const GROUNDING_CHUNK = model(
  {},
  {
    image: model({ text: 'sourceUri imageUri title domain' }),
    maps: MAPS_CHUNK,
    retrievedContext: RETRIEVED_CONTEXT,
    web: model({ text: 'domain title uri' }),
  },
);
const GROUNDING_SUPPORT = model(
  {},
  {
    confidenceScores: listOf('float'),
    groundingChunkIndices: listOf('integer'),
    segment: model({ integer: 'startIndex endIndex partIndex', text: 'text' }),
    renderedParts: listOf('integer'),
  },
);
const GROUNDING_METADATA = model(
  { text: 'googleMapsWidgetContextToken' },
  {
    imageSearchQueries: listOf('text'),
    groundingChunks: listOf(GROUNDING_CHUNK),
    groundingSupports: listOf(GROUNDING_SUPPORT),
    retrievalMetadata: model({ float: 'googleSearchDynamicRetrievalScore' }),
    searchEntryPoint: model({ text: 'renderedContent', bytes: 'sdkBlob' }),
    webSearchQueries: listOf('text'),
    retrievalQueries: listOf('text'),
    sourceFlaggingUris: listOf(model({ text: 'flagContentUri sourceId' })),
  },
);

export const TOKENS_BY_MODALITY = listOf(model({ text: 'modality', integer: 'tokenCount' }));
const USAGE_METADATA = model(
  {
    text: 'trafficType',
    integer: `cachedContentTokenCount candidatesTokenCount promptTokenCount thoughtsTokenCount
      toolUsePromptTokenCount totalTokenCount`,
  },
  {
    cacheTokensDetails: TOKENS_BY_MODALITY,
    candidatesTokensDetails: TOKENS_BY_MODALITY,
    promptTokensDetails: TOKENS_BY_MODALITY,
    toolUsePromptTokensDetails: TOKENS_BY_MODALITY,
  },
);

const LOGPROBS_CANDIDATES = listOf(
  model({ float: 'logProbability', text: 'token', integer: 'tokenId' }),
);
const LOGPROBS_RESULT = model(
  { float: 'logProbabilitySum' },
  {
    chosenCandidates: LOGPROBS_CANDIDATES,
    topCandidates: listOf(model({}, { candidates: LOGPROBS_CANDIDATES })),
  },
);

const CACHE_METADATA = model(
  {
    text: 'cacheName fingerprint',
    float: 'expireTime createdAt',
    count: 'invocationsUsed contentsCount',
  },
  {},
  {
    required: 'fingerprint contentsCount',
    requiredTogether: 'cacheName expireTime invocationsUsed',
  },
);

const CITATION = model(
  { integer: 'startIndex endIndex', text: 'license title uri' },
  { publicationDate: model({ integer: 'day month year' }) },
);

const TOOL_CONFIRMATION = model({ text: 'hint', flag: 'confirmed', data: 'payload' });
const COMPACTION = model(
  { time: 'startTimestamp endTimestamp' },
  { compactedContent: CONTENT },
  { required: 'startTimestamp endTimestamp compactedContent' },
);
const UI_WIDGET = model(
  { text: 'id provider', record: 'payload' },
  {},
  { required: 'id provider' },
);

const ACTIONS = model(
  {
    flag: 'skipSummarization escalate endOfAgent',
    delta: 'stateDelta',
    text: 'transferToAgent transferReason rewindBeforeInvocationId',
    record: 'agentState',
    route: 'route',
    data: 'setModelResponse',
  },
  {
    artifactDelta: dictionaryOf('integer'),
    requestedAuthConfigs: dictionaryOf('auth config'),
    requestedToolConfirmations: dictionaryOf(TOOL_CONFIRMATION),
    compaction: COMPACTION,
    renderUiWidgets: listOf(UI_WIDGET),
  },
);

/** An event. */
export const PYTHON_EVENT: Model = model(
  {
    text: `modelVersion turnCompleteReason interactionStatus finishReason errorCode errorMessage
      liveSessionId interactionId environmentId invocationId author branch isolationScope id`,
    flag: 'partial turnComplete interrupted',
    float: 'avgLogprobs',
    time: 'timestamp',
    record: 'customMetadata',
    data: 'output',
  },
  {
    content: CONTENT,
    groundingMetadata: GROUNDING_METADATA,
    usageMetadata: USAGE_METADATA,
    liveSessionResumptionUpdate: model({
      text: 'newHandle',
      flag: 'resumable',
      integer: 'lastConsumedClientMessageIndex',
    }),
    goAway: model({ text: 'timeLeft' }),
    voiceActivity: model({ text: 'voiceActivityType audioOffset' }),
    inputTranscription: TRANSCRIPTION,
    outputTranscription: TRANSCRIPTION,
    logprobsResult: LOGPROBS_RESULT,
    cacheMetadata: CACHE_METADATA,
    citationMetadata: model({}, { citations: listOf(CITATION) }),
    actions: ACTIONS,
    nodeInfo: model({ text: 'path', flag: 'messageAsOutput' }, { outputFor: listOf('text') }),
    longRunningToolIds: listOf('text'),
  },
);
