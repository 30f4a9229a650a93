/**
 * The rules by which Gemini, OpenAI and Anthropic refuse a request because of its function calls and responses. A
 * scripted model passes each request here, so that every test with a Runner checks them.
 *
 * Python's summaries are contents of the model, and may come first. So the first content may be a text of the model.
 *
 * | rule                                                         | source                                                                      |
 * | ------------------------------------------------------------ | --------------------------------------------------------------------------- |
 * | no request begins with a call | Gemini: "function call turn comes immediately after a user turn or after a function response turn" |
 * | the content right after calls has a response to each of them | Gemini, function calling: "the number of function response parts is equal to |
 * |                                                              | the number of function call parts of the function call turn"; OpenAI:        |
 * |                                                              | "tool_calls must be followed by tool messages responding to each             |
 * |                                                              | tool_call_id"; Anthropic: "tool_use ids were found without tool_result       |
 * |                                                              | blocks immediately after"                                                    |
 * | a response follows its call                                  | OpenAI: "messages with role tool must be a response to a preceding message   |
 * |                                                              | with tool_calls"; Anthropic: "unexpected tool_use_id in tool_result"         |
 * | an id is that of one call                                    | Anthropic: "tool_use ids must be unique"                                     |
 * | calls are of the model, responses of the user                | Gemini, Content.role; Anthropic, content blocks                              |
 */
import type { LlmRequest } from '@google/adk';

type Content = LlmRequest['contents'][number];
type Part = NonNullable<Content['parts']>[number];

/** Calls that may lack a response: google-adk sends them too, as long as they wait. */
type MayWait = (name: string) => boolean;

/** Returns what a provider would refuse in a request; empty if nothing. */
export function pairingMistakes(contents: readonly Content[], mayWait: MayWait): string[] {
  const mistakes: string[] = [];
  const ids = new Set<string>();
  if (namesOf(contents[0]?.parts ?? [], 'functionCall').length > 0) mistakes.push('a call begins');
  contents.forEach(({ role, parts = [] }, at) => {
    const calls = namesOf(parts, 'functionCall');
    const responses = namesOf(parts, 'functionResponse');
    const previousCalls = namesOf(contents[at - 1]?.parts ?? [], 'functionCall');
    const nextResponses = namesOf(contents[at + 1]?.parts ?? [], 'functionResponse');
    if (calls.length > 0 && role !== 'model') mistakes.push(`content ${at}: the user calls`);
    if (responses.length > 0 && role !== 'user') mistakes.push(`content ${at}: the model responds`);
    for (const call of calls) {
      const [name, id] = call;
      if (!hasSame(nextResponses, call) && !mayWait(name)) {
        mistakes.push(`content ${at}: no response to ${name} ${id} follows`);
      }
      if (id !== '' && ids.has(id)) mistakes.push(`content ${at}: the id ${id} is used again`);
      ids.add(id);
    }
    for (const response of responses) {
      if (hasSame(previousCalls, response)) continue;
      mistakes.push(`content ${at}: no call of ${response.join(' ')} precedes`);
    }
  });
  return mistakes;
}

/** Fails with what a provider would refuse in a request. */
export function requirePairs(
  { contents, toolsDict }: LlmRequest,
  mayWait: MayWait = () => false,
): void {
  const isLongRunning = (name: string): boolean => {
    const tool = toolsDict[name] as { readonly isLongRunning?: boolean } | undefined;
    return tool?.isLongRunning === true || name.startsWith('adk_request_');
  };
  const mistakes = pairingMistakes(contents, (name) => mayWait(name) || isLongRunning(name));
  if (mistakes.length > 0) {
    throw new Error(`${mistakes.join('; ')}\n${JSON.stringify(contents, undefined, 1)}`);
  }
}

type Name = readonly [name: string, id: string];

function namesOf(parts: readonly Part[], kind: 'functionCall' | 'functionResponse'): Name[] {
  return parts.flatMap((part) => {
    const call = part[kind];
    return call === undefined ? [] : [[call.name ?? '', call.id ?? '']];
  });
}

/** The framework removes the ids that it made itself, so that only names remain. */
function hasSame(names: readonly Name[], [name, id]: Name): boolean {
  return names.some(([otherName, otherId]) => (id === '' ? otherName === name : otherId === id));
}
