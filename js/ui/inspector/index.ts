/**
 * The element `<adk-session-inspector>`, which shows the sessions of any service: their events, their state and its
 * history. The import defines the element.
 *
 * @module adk-session-wasm/inspector
 */
export { SessionInspectorElement } from './element.js';
export type { InspectorProperties } from './element.js';
