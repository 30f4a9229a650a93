// Who the author of an event is that names none, and what a page may not send as content.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type Content, isSessionError } from '../../../../../js/index.js';
import type { RunAgent, SentEvent } from '../../../../../js/ui/live/index.js';
import { snapshotOf } from '../stores.js';
import { echo, openChat } from './agents.js';

/** Asks an agent, and returns the run's error, or the authors of the stored events and their roles. */
async function asked(agent: RunAgent): Promise<unknown> {
  const { service, chat, stop } = await openChat(agent);
  await chat.ask('hi');
  const { run } = await snapshotOf(chat, ({ run, events }) => {
    return run?.status === 'failed' || (run === undefined && events.length === 2);
  });
  stop();
  if (run !== undefined) return run.error;
  const { events } = (await service.getSession(chat.key))!;
  return events.map(({ author, content }) => [author, content?.role]);
}

describe('An event of an agent without an author', () => {
  const yields = (...events: readonly SentEvent[]): RunAgent =>
    async function* () {
      yield* await Promise.resolve(events);
    };

  it('has the name of the agent', async () => {
    const events = [{ content: 'h', partial: true }, { content: 'hi!' }];
    const agent = Object.assign(yields(...events), { agentName: 'guide' });
    const expected = [
      ['user', 'user'],
      ['guide', 'model'],
    ];
    assert.deepEqual(await asked(agent), expected);
  });

  it('fails the run of an agent without a name', async () => {
    const error = await asked(yields({ content: 'hi!' }));
    assert.ok(isSessionError(error, 'invalid_argument'));
    assert.match(String(error), /event\.author must be given, or the agent needs an agentName/);
  });

  it('is told apart from a text, which is no event', async () => {
    const error = await asked(yields('hi!' as SentEvent));
    assert.match(String(error), /must be an object: yield \{ author, content \}; it is "hi!"/);
  });
});

describe('send, ask and edit', () => {
  it('send makes an event without an author one of the user', async () => {
    const { chat, stop } = await openChat(undefined);
    const { author, content } = await chat.send({ content: 'Tea?' });
    stop();
    assert.deepEqual([author, content?.role], ['user', 'user']);
  });

  it('refuse the roles of other APIs, and parts without a member', async () => {
    const { chat, stop } = await openChat(echo);
    const { id } = await chat.ask('hi');
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    const parts = [{ text: 'ho' }];
    const contents: readonly (readonly [Content, string])[] = [
      [{ role: 'assistant', parts }, 'role'],
      [{ role: 'user', parts: [...parts, {}] }, 'parts[1]'],
    ];
    for (const [content, member] of contents) {
      const refused = (key: string) => ({ code: 'invalid_argument', key });
      await assert.rejects(chat.ask(content), refused(`content.${member}`));
      await assert.rejects(chat.edit(id, content), refused(`content.${member}`));
      await assert.rejects(chat.send({ content }), refused(`event.content.${member}`));
    }
    assert.equal(chat.getSnapshot().events.length, 2);
    stop();
  });
});
