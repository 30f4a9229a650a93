// Texts that the playground shows.

/** The call of a tool and its response, in one line that opens to both. */
export const TOOL_LINE = `hostremember_tastetaste: mildcalled with${jsonOf({ taste: 'mild' })}returned${jsonOf({ kept: 'mild' })}`;

/** A value as the page writes it out. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, undefined, 1);
}
