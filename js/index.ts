/**
 * Sessions, scoped state and instruction templates for agents, with the wasm included.
 *
 * @module adk-session-wasm
 */
import './wasm/default_source.js';

export * from './exports.js';
