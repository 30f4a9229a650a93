/** The name in the first line of a stream of sessions. */
export const STREAM_FORMAT = 'adk-sessions';
/** The version of that format. */
export const STREAM_VERSION = 1;
