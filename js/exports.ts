/**
 * The public API except the wasm, which `index.ts` and `slim.ts` load in different ways.
 *
 * It has what users call, and the types that they write or hold: those that a signature names.
 * `tests/packaging/api_report.test.ts` has the rules for the others.
 */
export { SessionError, StateSchemaError, isSessionError } from './values/errors/errors.js';
export type {
  MissingVariable,
  SessionErrorCode,
  SessionErrorFields,
  StaleReason,
} from './values/errors/errors.js';
export { createEvent, createEventActions } from './values/model/event/create_event.js';
export type {
  CreateEventActionsParams,
  CreateEventParams,
} from './values/model/event/create_event.js';
export { filesOf, type MessageFile } from './values/model/event/message_files.js';
export { finalResponseText, isFinalResponse } from './values/model/event/final_response.js';
export type {
  AppendedEvent,
  AuthConfig,
  AuthScheme,
  Event,
  EventActions,
  NewEvent,
  NodeInfo,
  ToolConfirmation,
} from './values/model/event/event.js';
export type {
  CodeExecutionResult,
  Content,
  ExecutableCode,
  FileData,
  FunctionCall,
  FunctionResponse,
  InlineData,
  Part,
} from './values/model/event/content.js';
export type {
  InstructionContext,
  LoadedArtifact,
  StateReader,
  TemplateContext,
} from './service/template/context.js';
export { instruction, resolveInstruction } from './service/template/provider.js';
export type { InstructionProvider } from './service/template/provider.js';
export { injectSessionState, Template } from './service/template/template.js';
export type { Placeholder } from './service/template/scanner.js';
export type {
  ArtifactData,
  ArtifactRequest,
  ArtifactService,
  ArtifactUsage,
  ArtifactUsageRequest,
  ArtifactVersion,
  ArtifactVersionRequest,
  OpenArtifactRequest,
  PutArtifactRequest,
  SaveArtifactRequest,
} from './values/model/artifact.js';
export type { ArtifactsOption } from './service/artifacts/homes.js';
export {
  Context,
  Context as CallbackContext,
  Context as ToolContext,
  ReadonlyContext,
} from './service/invocation/context.js';
export type { ContextOptions, ReadonlyContextOptions } from './service/invocation/context.js';
export { Invocation } from './service/invocation/invocation.js';
export type { AppendOptions, InvocationOptions } from './service/invocation/invocation.js';
export { InMemorySessionService } from './service/in_memory_session_service.js';
export { IndexedDbSessionService } from './service/indexed_db_session_service.js';
export type {
  DeleteDatabaseOptions,
  IndexedDbSessionServiceOptions,
  OnDataLoss,
} from './service/indexed_db_session_service.js';
export { openSessionService } from './service/open_session_service.js';
export type {
  OpenedSessionService,
  OpenSessionServiceOptions,
} from './service/open_session_service.js';
export type { SessionServiceOptions } from './service/service_options.js';
export type { OwnStorageOptions } from './service/over_storage.js';
export type { StalePolicy } from './core/wasm/protocol.js';
export type { BaseSessionService, SessionService } from './values/model/session_service.js';
export type {
  Abortable,
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CompositeSessionKey,
  CreateSessionRequest,
  DeleteSessionRequest,
  ExpectedEvents,
  GetSessionConfig,
  GetSessionRequest,
  JsonValue,
  RevisionCheck,
  Session,
  SessionChanges,
  SessionParent,
  UpdateStateRequest,
  UserRequest,
} from './values/model/session.js';
export type { HistoryView } from './values/model/values/read_options.js';
export type {
  DeleteSessionsOptions,
  DeleteSessionsRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  ListSessionsTotalRequest,
  SessionsPage,
  SessionsRequest,
} from './values/model/session_list.js';
export type {
  ChangesSince,
  EventsPage,
  EventsRequest,
  GetEventsRequest,
  ListChangesRequest,
  ListEventsRequest,
  StoredEvent,
  StoredEvents,
} from './values/model/event_page.js';
export type { SessionInfo, SessionInfoRequest, TokenUsage } from './values/model/session_info.js';
export type {
  ChangeNotice,
  DeletedNotice,
  ListenOptions,
  LostNotice,
  Notice,
  Notices,
  ResyncNotice,
  SessionNotice,
  StateChangedNotice,
  StopWatching,
  UpdatedNotice,
  WatchOptions,
  WatchRequest,
} from './values/model/notice.js';
export type { CloseOptions, DataLoss, StorageInfo } from './values/model/storage_info.js';
export type { CallDiagnostic, Diagnostic, StorageDiagnostic } from './values/model/diagnostic.js';
export type {
  ChannelOptions,
  OpenChannel,
  OwnChannel,
  ProcessChannel,
} from './core/watch/open_channel.js';
export { State } from './values/state/state.js';
export type { ReadableState } from './values/state/state.js';
export type { SharedScope } from './values/state/scope.js';
export type {
  ComputeDelta,
  StateChanges,
  StateDelta,
  StateShape,
} from './values/state/state_shape.js';
export type {
  InferState,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
  StateSchema,
  StateSchemaOf,
} from './values/state/state_schema.js';
export { requestPersistence, storageUsage } from './core/storage/persistence.js';
export type { StorageUsage } from './core/storage/persistence.js';
