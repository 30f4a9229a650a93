/** The text that replaces a secret. */
const MASK = '***';

/**
 * Returns a function that masks secrets in a text: as they are, and with characters escaped as in JSON, URLs or
 * HTML.
 *
 * @param secrets printable ASCII
 */
export function makeMask(...secrets: readonly string[]): (text: string) => string {
  if (secrets.length === 0) return (text) => text;
  // Built on first use: most requests succeed, and their text is never shown.
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= new RegExp(secrets.map(escapedPattern).join('|'), 'g');
    return text.replace(pattern, MASK);
  };
}

/** Returns a pattern that matches the text with any of its characters escaped. */
function escapedPattern(text: string): string {
  return Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    // Two digits, because it is printable.
    const digits = code.toString(16);
    const hex = digits.replace(/./g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    // JSON nested in JSON has more backslashes.
    const unescaped = `\\\\*\\x${digits}`;
    return `(?:${unescaped}|\\\\+u00${hex}|%(?:25)*${hex}|&#(?:${code}|[xX]${hex});)`;
  }).join('');
}
