/**
 * For programs that bring a copy of `@google/adk` of their own: nothing here loads one.
 *
 * @module adk-session-wasm/adk/factory
 */
import '../wasm/default_source.js';

export { adkSessionService } from './adk_session_service.js';
export type {
  AdkSessionServices,
  FrameworkInMemorySessionService,
  FrameworkIndexedDbSessionService,
  FrameworkIndexedDbSessionServiceClass,
  FrameworkOptions,
  OverService,
} from './adk_session_service.js';
export type {
  AppendEventRequest,
  AppendEventsRequest,
  FrameworkSessionService,
} from './framework_session_service.js';
