/** The public API except the wasm, which `index.ts` and `slim.ts` load in different ways. */
export {
  SESSION_ERROR_CODES,
  SessionError,
  StateSchemaError,
  isSessionError,
} from './errors/errors.js';
export type { MissingVariable, SessionErrorCode, SessionErrorFields } from './errors/errors.js';
export { createEvent, createEventActions } from './model/event/create_event.js';
export { finalResponseText, isFinalResponse } from './model/event/final_response.js';
export type {
  AppendedEvent,
  AuthConfig,
  AuthScheme,
  Event,
  EventActions,
  NewEvent,
  NodeInfo,
  ToolConfirmation,
} from './model/event/event.js';
export type {
  CodeExecutionResult,
  Content,
  ExecutableCode,
  FileData,
  FunctionCall,
  FunctionResponse,
  InlineData,
  Part,
} from './model/event/content.js';
export type { CreateEventActionsParams, CreateEventParams } from './model/event/create_event.js';
export type {
  AdkLoadArtifactRequest,
  AdkReadonlyContext,
  InstructionContext,
  LoadedArtifact,
  StateReader,
  TemplateContext,
} from './template/context.js';
export { instruction, resolveInstruction } from './template/provider.js';
export type { InstructionProvider, ProviderContext } from './template/provider.js';
export type { Placeholder } from './template/scanner.js';
export { injectSessionState, Template } from './template/template.js';
export type { ArtifactService } from './invocation/artifact_service.js';
export {
  Context,
  Context as CallbackContext,
  Context as ToolContext,
  ReadonlyContext,
} from './invocation/context.js';
export type { ContextOptions, ReadonlyContextOptions } from './invocation/context.js';
export { Invocation } from './invocation/invocation.js';
export type { AppendOptions, InvocationOptions } from './invocation/invocation.js';
export type { SharedScope } from './state/scope.js';
export { InMemorySessionService } from './service/in_memory_session_service.js';
export { IndexedDbSessionService } from './service/indexed_db_session_service.js';
export type {
  DeleteDatabaseOptions,
  IndexedDbSessionServiceOptions,
  OnDataLoss,
} from './service/indexed_db_session_service.js';
export { openSessionService } from './service/open_session_service.js';
export type { OpenSessionServiceOptions } from './service/open_session_service.js';
export type { HistoryOptions } from './read/history.js';
export type { SessionServiceOptions } from './service/service_options.js';
export type { StalePolicy } from './append/append_rules.js';
export type { ChangedEvent, ChangesSince, ListChangesRequest } from './model/changes_since.js';
export type { EventsPage, EventsRequest, ListEventsRequest } from './model/event_page.js';
export type {
  Abortable,
  AppendEventRequest,
  AppendEventsRequest,
  AppRequest,
  CompositeSessionKey,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionConfig,
  GetSessionRequest,
  JsonValue,
  ExpectedEvents,
  RevisionCheck,
  Session,
  SessionChanges,
  UpdateSessionRequest,
  UpdateStateRequest,
  UserRequest,
} from './model/session.js';
export type { SessionInfo, SessionInfoRequest, TokenUsage } from './model/session_info.js';
export type {
  ListSessionsPageRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  SessionsPage,
  SessionsRequest,
} from './model/session_list.js';
export type { DeleteSessionsOptions, DeleteSessionsRequest } from './model/deletion.js';
export type {
  ComputeDelta,
  StateChanges,
  StateDelta,
  StateKey,
  StateShape,
  StateValue,
} from './state/state_shape.js';
export type { BaseSessionService, SessionService } from './model/session_service.js';
export type { CloseOptions, DataLoss, Health, StorageInfo } from './model/storage_info.js';
export type {
  CallDiagnostic,
  Diagnostic,
  StorageDiagnostic,
} from './model/diagnostic.js';
export { type ReadableState, State } from './state/state.js';
export type {
  InferState,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
  StateSchema,
  StateSchemaOf,
} from './state/state_schema.js';
export { requestPersistence, storageUsage } from './storage/persistence.js';
export type { StorageUsage } from './storage/persistence.js';
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
  UpdatedNotice,
  StopWatching,
  WatchOptions,
  WatchRequest,
} from './model/notice.js';
