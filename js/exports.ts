/**
 * The public API except the wasm, which `index.ts` and `slim.ts` load in different ways.
 *
 * It has what users call, and the types that they write. Other types are named through these: `Part['inlineData']`,
 * `Parameters<SessionService['watch']>`, `Extract<Notice, { type: 'deleted' }>`.
 */
export { SessionError, StateSchemaError, isSessionError } from './errors/errors.js';
export type { SessionErrorCode } from './errors/errors.js';
export { createEvent, createEventActions } from './model/event/create_event.js';
export { finalResponseText, isFinalResponse } from './model/event/final_response.js';
export type { AppendedEvent, Event, EventActions, NewEvent } from './model/event/event.js';
export type { Content, FunctionCall, FunctionResponse, Part } from './model/event/content.js';
export type { InstructionContext } from './template/context.js';
export { instruction, resolveInstruction } from './template/provider.js';
export type { InstructionProvider } from './template/provider.js';
export { injectSessionState, Template } from './template/template.js';
export type { ArtifactService } from './invocation/artifact_service.js';
export {
  Context,
  Context as CallbackContext,
  Context as ToolContext,
  ReadonlyContext,
} from './invocation/context.js';
export { Invocation } from './invocation/invocation.js';
export { InMemorySessionService } from './service/in_memory_session_service.js';
export { IndexedDbSessionService } from './service/indexed_db_session_service.js';
export type { IndexedDbSessionServiceOptions } from './service/indexed_db_session_service.js';
export { openSessionService } from './service/open_session_service.js';
export type { OpenSessionServiceOptions } from './service/open_session_service.js';
export type { SessionServiceOptions } from './service/service_options.js';
export type { BaseSessionService, SessionService } from './model/session_service.js';
export type {
  AppendEventRequest,
  AppendEventsRequest,
  CompositeSessionKey,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionConfig,
  GetSessionRequest,
  JsonValue,
  Session,
  SessionChanges,
  SessionParent,
  UpdateStateRequest,
} from './model/session.js';
export type { HistoryView } from './model/values/history_view.js';
export type {
  ListSessionsRequest,
  ListSessionsResponse,
  SessionsPage,
} from './model/session_list.js';
export type {
  EventsPage,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvent,
  StoredEvents,
} from './model/event_page.js';
export type { ChangesSince } from './model/changes_since.js';
export type { DeleteSessionsRequest } from './model/deletion.js';
export type { SessionInfo } from './model/session_info.js';
export type { Notice, Notices } from './model/notice.js';
export type { StorageInfo } from './model/storage_info.js';
export type { Diagnostic } from './model/diagnostic.js';
export { State } from './state/state.js';
export type { StateDelta, StateShape } from './state/state_shape.js';
export type { InferState, StateSchema } from './state/state_schema.js';
export { requestPersistence, storageUsage } from './storage/persistence.js';
