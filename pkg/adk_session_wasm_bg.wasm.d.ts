/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __wbg_sessioncore_free: (a: number, b: number) => void;
export const scan_template: (a: number, b: number) => [number, number];
export const sessioncore_append_event: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number, n: number, o: number, p: number, q: number, r: number, s: any) => [number, number, number];
export const sessioncore_append_events: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number, l: number, m: number, n: any) => [number, number, number];
export const sessioncore_create: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => [number, number, number];
export const sessioncore_delete_session: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
export const sessioncore_delete_state: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
export const sessioncore_delete_user: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
export const sessioncore_foreign: (a: any) => number;
export const sessioncore_get: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number, k: number) => [number, number, number];
export const sessioncore_list: (a: number, b: number, c: number, d: any) => [number, number, number];
export const sessioncore_memory: () => number;
export const sessioncore_scope_state: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
export const sessioncore_update: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
export const wasm_bindgen__convert__closures_____invoke__h0d425c2571a9de62: (a: number, b: number, c: any) => [number, number, number];
export const wasm_bindgen__convert__closures_____invoke__h51eb4ae3d83fc22c: (a: number, b: number, c: any, d: any) => void;
export const wasm_bindgen__convert__closures_____invoke__hffd9278dca3d5a78: (a: number, b: number, c: any) => [number, number];
export const __wbindgen_malloc: (a: number, b: number) => number;
export const __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __wbindgen_exn_store: (a: number) => void;
export const __externref_table_alloc: () => number;
export const __wbindgen_externrefs: WebAssembly.Table;
export const __wbindgen_destroy_closure: (a: number, b: number) => void;
export const __externref_table_dealloc: (a: number) => void;
export const __wbindgen_start: () => void;
