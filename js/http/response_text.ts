/** Maximum length of the response text that an error shows, in characters. */
export const MAX_SHOWN_BODY = 500;

/** Returns the value of a JSON text. Returns `undefined` for other texts, for example a proxy's error page. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
