/**
 * Sessions stored at Vertex AI, shared with agents of google-adk for Python and of `@google/adk`.
 *
 * @module adk-session-wasm/vertex
 */
export { VertexAiSessionService } from './vertex_ai_session_service.js';
export type {
  VertexAiCreateSessionRequest,
  VertexAiOptions,
  VertexAiSessionChanges,
} from './vertex_ai_session_service.js';
export type { AccessToken } from '../../stores/vertex/rest/access.js';
