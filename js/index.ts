/**
 * Sessions, scoped state and instruction templates for agents; the wasm comes along.
 *
 * @module adk-session-wasm
 */
import './wasm/default_source.js';

export * from './exports.js';
