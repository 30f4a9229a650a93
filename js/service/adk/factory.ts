/**
 * Session services for a program's own copy of `@google/adk`: this module loads no copy.
 *
 * @module adk-session-wasm/adk/factory
 */
export { adkSessionService } from './adk_session_service.js';
export { runWith } from './run_with.js';
export type {
  AdkServiceOptions,
  AdkSessionServices,
  AsAdkService,
  FrameworkInMemorySessionService,
  FrameworkIndexedDbSessionServiceClass,
} from './adk_session_service.js';
export type {
  AppendEventRequest,
  AppendEventsRequest,
  FrameworkSessionService,
  FrameworkSessionsPage,
} from './framework_session_service.js';
export type { RunnerReadOptions } from './runner_reads.js';
