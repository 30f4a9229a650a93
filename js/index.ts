/**
 * Sessions, scoped state and instruction templates for agents, with the wasm included.
 *
 * @module adk-session-wasm
 */
export * from './exports.js';
