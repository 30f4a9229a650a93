/**
 * Sessions stored at Vertex AI, shared with agents of google-adk for Python and of `@google/adk`.
 *
 * @module adk-session-wasm/vertex
 */
import '../wasm/default_source.js';

export { VertexAiSessionService } from './vertex_ai_session_service.js';
export type { VertexAiOptions } from './vertex_ai_session_service.js';
export type { AccessToken } from './rest/access.js';
