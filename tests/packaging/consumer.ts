// A program as a user writes it, for all the ways to load the package.

import assert from 'node:assert/strict';

/** The result of {@link consumer}. */
export interface Outcome {
  answer: string;
  texts: string[];
  state: Record<string, unknown>;
  kind: string;
}

/**
 * A module whose function `run` creates a session, appends to it and renders a template.
 *
 * @param from what it imports the package by
 * @param before what `run` does first
 */
export function program(from = 'adk-session-wasm', before = ''): string {
  return `
import { InMemorySessionService, Invocation, openSessionService, Template } from ${JSON.stringify(from)};

async function run() {
  ${before}
  const service = await openSessionService({ storage: 'memory' });
  const key = { appName: 'shop', userId: 'ada', sessionId: 'söss/1' };
  const session = await service.createSession({ ...key, state: { 'user:name': 'Ada' } });
  const invocation = new Invocation({ service, session });
  await invocation.append({ author: 'user', content: { parts: [{ text: 'grüß 👋' }] } });
  const context = invocation.context({ agentName: 'guide' });
  context.state.set('topic', 'tea');
  const answer = await new Template('Answer {user:name} about {topic}.').render(context);
  await invocation.append({ content: { parts: [{ text: answer }] } }, { context });
  invocation.end();
  const { events, state } = await service.getSession(key);
  const texts = events.map(({ content }) => content.parts[0].text);
  const kind = new InMemorySessionService().storage.kind;
  return { answer, texts, state, kind };
}
`;
}

/** The same as a page: a promise of what came of it is in `globalThis.report`. */
export function consumer(from?: string, before?: string): string {
  return `${program(from, before)}\nglobalThis.report = run();\n`;
}

export const OUTCOME: Outcome = {
  answer: 'Answer Ada about tea.',
  texts: ['grüß 👋', 'Answer Ada about tea.'],
  state: { topic: 'tea', 'user:name': 'Ada' },
  kind: 'memory',
};

export function assertOutcome(outcome: Outcome): void {
  const sorted = Object.fromEntries(Object.entries(outcome.state).sort());
  assert.deepEqual({ ...outcome, state: sorted }, OUTCOME);
}

/** A page with one script, as a module. */
export function page(script: string, head = ''): string {
  return `<!doctype html><meta charset="utf-8">${head}<script type="module" src="${script}"></script>`;
}
