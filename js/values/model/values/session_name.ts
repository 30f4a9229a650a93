/** The key of a session, of a user or of an app. */
interface AnyKey {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Returns the key of a session, or of its owner, as one text: other keys have other texts. */
export function sessionName({ appName, userId, sessionId }: AnyKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}
