/** The text that replaces a secret. */
const MASK = '***';

/** Minimum length of a base64 form. Shorter ones would also match texts that hold no secret. */
const MIN_BASE64_LENGTH = 8;

/**
 * Returns a function that masks secrets in a text: as they are, with characters escaped as in JSON, URLs or
 * HTML, and in base64.
 *
 * @param secrets printable ASCII
 */
export function makeMask(...secrets: readonly string[]): (text: string) => string {
  if (secrets.length === 0) return (text) => text;
  // Built on first use: most requests succeed, and their text is never shown.
  let pattern: RegExp | undefined;
  return (text) => {
    const forms = () => secrets.flatMap((secret) => [secret, ...base64Forms(secret)]);
    pattern ??= new RegExp(forms().map(escapedPattern).join('|'), 'g');
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

/**
 * Returns the base64 forms of the secret inside a longer text, one for each of the three alignments. Each
 * form comes in the standard and in the URL-safe alphabet.
 */
function base64Forms(secret: string): string[] {
  const forms = ['', '\0', '\0\0'].flatMap((prefix) => {
    const text = prefix + secret;
    // Characters that also encode neighbouring bytes vary, so they are cut off.
    const first = Math.ceil((prefix.length * 8) / 6);
    const form = btoa(text).slice(first, Math.floor((text.length * 8) / 6));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set(forms)].filter(({ length }) => length >= MIN_BASE64_LENGTH);
}
