import { kindOf } from '../../values/errors/describe.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { Context, type ReadonlyContext } from '../invocation/context.js';
import type { InstructionContext } from './context.js';
import { injectSessionState, Template } from './template.js';

/**
 * An instruction as a function that is called when the agent runs. Its text is used unchanged:
 * placeholders are not replaced, unless the function calls {@link injectSessionState}.
 *
 * @typeParam C - The context that it is called with.
 */
export type InstructionProvider<C = InstructionContext> = (context: C) => string | Promise<string>;

/**
 * The context that a provider is called with. A context that may write is narrowed to a read-only
 * one.
 */
export type ProviderContext<C> = C extends Context<infer S> ? ReadonlyContext<S> : C;

/**
 * Makes an {@link InstructionProvider} from a template, for an agent of `@google/adk`. A plain
 * string given to such an agent follows that package's own rules.
 *
 * @throws SessionError `invalid_argument` if `text` is not a string
 *
 * @example
 * ```ts
 * import { LlmAgent } from '@google/adk';
 * import { instruction } from 'adk-session-wasm';
 *
 * new LlmAgent({ name: 'guide', instruction: instruction('Say {{braces}} to {user:이름}.') });
 * ```
 */
export function instruction(text: string): (context: InstructionContext) => Promise<string> {
  const template = new Template(text);
  return (context) => template.render(context);
}

/**
 * Returns the text of an agent's instruction. A string is rendered as a template. A function is
 * called with a read-only context, and its result is used unchanged.
 *
 * @throws SessionError (as a rejection) as {@link injectSessionState}; `invalid_argument` if the
 *   instruction is neither, or the function returns no string. Errors of the function are passed
 *   on.
 *
 * @example
 * ```ts
 * import { type Invocation, resolveInstruction } from 'adk-session-wasm';
 *
 * async function instructions(invocation: Invocation) {
 *   const context = invocation.readonlyContext({ agentName: 'guide' });
 *   return [
 *     await resolveInstruction('Greet {user:name}.', context),
 *     await resolveInstruction(({ state }) => `Greet ${state.get('user:name', 'them')}.`, context),
 *   ];
 * }
 * ```
 */
export async function resolveInstruction<C extends InstructionContext>(
  instruction: string | InstructionProvider<ProviderContext<C>>,
  context: C,
): Promise<string> {
  if (typeof instruction === 'string') return injectSessionState(instruction, context);
  if (typeof instruction !== 'function') {
    throw invalidValue('instruction', 'must be a string or a function', instruction);
  }
  const readonly: unknown = context instanceof Context ? context.toReadonly() : context;
  const text: unknown = await instruction(readonly as ProviderContext<C>);
  if (typeof text === 'string') return text;
  throw invalid('instruction', `must return a string; it returned ${kindOf(text)}`);
}
