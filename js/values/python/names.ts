/** Names of fields. */

/**
 * Returns the snake_case name of a field: `toolUsePromptTokenCount` becomes `tool_use_prompt_token_count`.
 */
export function snakeName(camelName: string): string {
  return camelName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Splits a text at white space. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
