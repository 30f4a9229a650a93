/**
 * The types of the host that this package's types name.
 *
 * They do not need the types of the DOM or of Node. In a program that has neither, they are `never`: it has no
 * such object to pass.
 */

/** The instances of the host's class of that name. */
type HostClass<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer Instance }> ? Instance : never;

/** An `AbortSignal`. */
export type HostAbortSignal = HostClass<'AbortSignal'>;
/** A `BroadcastChannel`. */
export type HostBroadcastChannel = HostClass<'BroadcastChannel'>;
/** An `EventTarget`. */
export type HostEventTarget = HostClass<'EventTarget'>;
/** A `URL`. */
export type HostUrl = HostClass<'URL'>;
/** A `Request` of `fetch`. */
export type HostRequest = HostClass<'Request'>;
/** A `Response` of `fetch`. */
export type HostResponse = HostClass<'Response'>;
/** A `Blob`. */
export type HostBlob = HostClass<'Blob'>;
/** The `Headers` of `fetch`. */
export type HostHeaders = HostClass<'Headers'>;
/** The function `fetch`. */
export type HostFetch = typeof globalThis extends { fetch: infer Fetch } ? Fetch : never;
/** A `ReadableStream`. */
export type HostStream = HostClass<'ReadableStream'>;
/** A `WebAssembly.Module`. */
export type HostWasmModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Instance } };
}
  ? Instance
  : never;

/** The part of a `ReadableStream` that reads it. */
export interface HostReadableStream<T> {
  getReader(): {
    read(): Promise<{ done: boolean; value?: T | undefined }>;
    cancel(): Promise<void>;
  };
}
