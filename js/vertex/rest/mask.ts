/** What stands in the place of a secret. */
const MASK = '***';

/** Shorter pieces of base64 would be found in texts that hold no secret. */
const SHORTEST_BASE64 = 8;

/**
 * Takes a secret out of texts: as it is, with characters escaped as in JSON, URLs or HTML, and in base64.
 *
 * @param secret printable ASCII
 */
export function maskOf(secret: string): (text: string) => string {
  // Made when it is needed: nearly all answers are good, and none of them is shown.
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= new RegExp([secret, ...inBase64(secret)].map(escaped).join('|'), 'g');
    return text.replace(pattern, MASK);
  };
}

/** A pattern for a text whose characters may be escaped, each of them. */
function escaped(text: string): string {
  return Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    const hex = [...code.toString(16).padStart(2, '0')]
      .map((digit) => `[${digit}${digit.toUpperCase()}]`)
      .join('');
    // JSON within JSON has more backslashes.
    const plain = `\\\\*\\x${code.toString(16).padStart(2, '0')}`;
    return `(?:${plain}|\\\\+u00${hex}|%(?:25)*${hex}|&#(?:${code}|[xX]${hex});)`;
  }).join('');
}

/** What base64 of a longer text shows of this one, which may begin at any of three places; also in URLs' form. */
function inBase64(secret: string): string[] {
  const forms = ['', '\0', '\0\0'].flatMap((before) => {
    const text = before + secret;
    // The characters that other bytes have a part in differ.
    const first = Math.ceil((before.length * 8) / 6);
    const form = btoa(text).slice(first, Math.floor((text.length * 8) / 6));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set(forms)].filter(({ length }) => length >= SHORTEST_BASE64);
}
