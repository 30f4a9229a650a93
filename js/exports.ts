/**
 * The public API except the wasm, which `index.ts` and `slim.ts` load in different ways.
 *
 * It has what users call, and the types that they write. Other types are named through these: `Part['inlineData']`,
 * `Parameters<SessionService['watch']>`, `Extract<Notice, { type: 'deleted' }>`.
 */
export { SessionError, StateSchemaError, isSessionError } from './values/errors/errors.js';
export type { SessionErrorCode } from './values/errors/errors.js';
export { createEvent, createEventActions } from './values/model/event/create_event.js';
export { filesOf, type MessageFile } from './values/model/event/message_files.js';
export { finalResponseText, isFinalResponse } from './values/model/event/final_response.js';
export type { AppendedEvent, Event, EventActions, NewEvent } from './values/model/event/event.js';
export type {
  Content,
  FunctionCall,
  FunctionResponse,
  Part,
} from './values/model/event/content.js';
export type { InstructionContext } from './service/template/context.js';
export { instruction, resolveInstruction } from './service/template/provider.js';
export type { InstructionProvider } from './service/template/provider.js';
export { injectSessionState, Template } from './service/template/template.js';
export type { ArtifactService } from './values/model/artifact.js';
export {
  Context,
  Context as CallbackContext,
  Context as ToolContext,
  ReadonlyContext,
} from './service/invocation/context.js';
export { Invocation } from './service/invocation/invocation.js';
export { InMemorySessionService } from './service/in_memory_session_service.js';
export { IndexedDbSessionService } from './service/indexed_db_session_service.js';
export type { IndexedDbSessionServiceOptions } from './service/indexed_db_session_service.js';
export { openSessionService } from './service/open_session_service.js';
export type { OpenSessionServiceOptions } from './service/open_session_service.js';
export type { SessionServiceOptions } from './service/service_options.js';
export type { BaseSessionService, SessionService } from './values/model/session_service.js';
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
} from './values/model/session.js';
export type { HistoryView } from './values/model/values/read_options.js';
export type {
  ListSessionsRequest,
  ListSessionsResponse,
  SessionsPage,
} from './values/model/session_list.js';
export type {
  EventsPage,
  GetEventsRequest,
  ListEventsRequest,
  StoredEvent,
  StoredEvents,
} from './values/model/event_page.js';
export type { ChangesSince } from './values/model/event_page.js';
export type { DeleteSessionsRequest } from './values/model/session_list.js';
export type { SessionInfo } from './values/model/session_info.js';
export type { Notice, Notices } from './values/model/notice.js';
export type { OpenChannel, OwnChannel, ProcessChannel } from './core/watch/open_channel.js';
export type { StorageInfo } from './values/model/storage_info.js';
export type { Diagnostic } from './values/model/diagnostic.js';
export { State } from './values/state/state.js';
export type { StateDelta, StateShape } from './values/state/state_shape.js';
export type { InferState, StateSchema } from './values/state/state_schema.js';
export { requestPersistence, storageUsage } from './core/storage/persistence.js';
