/** The name in the first line of a stream of sessions. */
export const FORMAT = 'adk-sessions';
/** The version of that format. */
export const VERSION = 1;
