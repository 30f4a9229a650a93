import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toolCall } from '../../js/service/adk/model_script.js';
import { type Context, inPage, inTwoPages } from './context.js';
import type { Turn } from './page/conversation.js';

const ada = { userId: 'ada', sessionId: 'first stay' };

const arrival: Turn = {
  ...ada,
  text: 'I am Ada.',
  answers: [toolCall('check_in', { name: 'Ada', room: 7 }), 'Welcome!'],
};
const question: Turn = { ...ada, text: 'Which room?', answers: ['Number 7.'] };

const ARRIVAL = [
  'user: I am Ada.',
  'model: calls check_in',
  'user: answers check_in',
  'model: Welcome!',
];
const QUESTION = ['user: Which room?', 'model: Number 7.'];

function ordering(drink: string): string[] {
  const order = ['model: calls order', 'user: answers order'];
  return [`user: ${drink}`, ...order, ...order, `model: ${drink} it is.`];
}

export function conversations(context: Context): void {
  it('a turn writes every scope by a tool and by outputKey, and temp: only for itself', async () => {
    await inPage(context, async (page) => {
      const { requests, yielded, events, state } = await page.call('converse', 'scopes', arrival);
      assert.deepEqual(
        requests.map(({ instruction }) => instruction),
        [', room , ; guests: ; said: ', 'Ada, room 7, in a hurry; guests: 1; said: '],
      );
      assert.deepEqual(yielded, ARRIVAL.slice(1));
      assert.deepEqual(events, ARRIVAL);
      assert.deepEqual(state, { answer: 'Welcome!', room: 7, 'user:name': 'Ada', 'app:guests': 1 });
    });
  });

  it('a conversation continues after the page is reloaded', async () => {
    await inPage(context, async (page) => {
      await page.call('converse', 'reload', arrival);
      await page.open(context.url);
      const { requests, events } = await page.call('converse', 'reload', question);
      assert.deepEqual(requests, [
        {
          instruction: 'Ada, room 7, ; guests: 1; said: Welcome!',
          contents: [...ARRIVAL, 'user: Which room?'],
        },
      ]);
      assert.deepEqual(events, [...ARRIVAL, ...QUESTION]);
    });
  });

  it('a conversation passes only user and app state to other sessions', async () => {
    await inPage(context, async (page) => {
      await page.call('converse', 'others', arrival);
      await page.open(context.url);
      for (const [session, instruction] of [
        [{ sessionId: 'second stay' }, 'Ada, room , ; guests: 1; said: '],
        [{ userId: 'bob' }, ', room , ; guests: 1; said: '],
      ] as const) {
        const { requests } = await page.call('converse', 'others', {
          ...question,
          ...session,
        });
        assert.deepEqual(requests, [{ instruction, contents: ['user: Which room?'] }]);
      }
    });
  });

  it('a conversation continues in another tab, and then in the first one again', async () => {
    await inTwoPages(context, async (one, other) => {
      const again = { ...question, text: 'And again?' };
      await one.call('converse', 'tabs', arrival);
      const second = await other.call('converse', 'tabs', question);
      const third = await one.call('converse', 'tabs', again);
      assert.deepEqual(second.requests[0]!.contents, [...ARRIVAL, 'user: Which room?']);
      assert.deepEqual(third.requests[0]!.contents, [...ARRIVAL, ...QUESTION, 'user: And again?']);
    });
  });

  it("two tabs that converse in one session keep all events, and no turn contains the other's", async () => {
    await inTwoPages(context, async (one, other) => {
      await one.call('converse', 'at once', arrival);
      const orders = (drink: string): Turn => ({
        ...ada,
        text: drink,
        answers: [
          toolCall('order', { drink, point: `${context.browser.name} one` }),
          toolCall('order', { drink, point: `${context.browser.name} another` }),
          `${drink} it is.`,
        ],
      });
      await one.start('converse', 'at once', orders('Tea'));
      await other.start('converse', 'at once', orders('Milk'));
      const both = [await one.finish<'converse'>(), await other.finish<'converse'>()];
      const requests = both.map(({ requests }) => requests.at(-1)!.contents.slice(-5));
      assert.deepEqual(requests, [ordering('Tea').slice(0, -1), ordering('Milk').slice(0, -1)]);

      const next = await one.call('converse', 'at once', question);
      const all = [...ARRIVAL, ...ordering('Tea'), ...ordering('Milk'), QUESTION[0]!];
      assert.deepEqual(next.requests[0]!.contents.toSorted(), all.toSorted());
      assert.deepEqual([next.state.Tea, next.state.Milk], ['ordered', 'ordered']);
    });
  });

  it('a conversation in memory lasts as long as the page', async () => {
    await inPage(context, async (page) => {
      await page.call('converseInMemory', arrival);
      const { requests, events } = await page.call('converseInMemory', question);
      assert.equal(requests[0]!.instruction, 'Ada, room 7, ; guests: 1; said: Welcome!');
      assert.deepEqual(events, [...ARRIVAL, ...QUESTION]);
      await page.open(context.url);
      const after = await page.call('converseInMemory', question);
      assert.deepEqual(after.events, QUESTION);
    });
  });
}
