/**
 * For programs on `@google/adk`: the same services as true `BaseSessionService`s of the framework, so
 * that changing one import is all there is to do.
 *
 * @module adk-session-wasm/adk
 */
import '../default_source.js';

export type {
  AppendEventRequest,
  AppendEventsRequest,
  FrameworkSessionService,
} from './framework_session_service.js';
export { InMemorySessionService } from './in_memory_session_service.js';
export { IndexedDbSessionService } from './indexed_db_session_service.js';
export { openSessionService } from './open_session_service.js';
