// Python and TypeScript by turns on one database.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LlmAgent, LlmSummarizer, Runner, TokenBasedContextCompactor } from '@google/adk';

import { asAdkService } from '../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { branches, rewind, switchBranch, undoRewind } from '../../../js/core/history/index.js';
import { ScriptedModel } from '../../js/service/adk/pairing/scripted_model.js';
import { type PythonProcess, startPython } from '../python.js';
import type { NewDatabase } from '../database/shared_databases.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

/** A turn, as the model saw it. */
interface Turn {
  readonly texts: readonly string[];
  readonly invocationId: string;
}

/** One conversation that google-adk's Runner and the framework's take part in. */
class Conversation {
  constructor(
    readonly service: DatabaseSessionService,
    readonly python: PythonProcess,
  ) {}

  /** A turn of google-adk. `compacts`: it summarises the history afterwards. */
  async inPython(text: string, compacts = false): Promise<Turn> {
    return JSON.parse(await this.python.ask(['say', text, compacts])) as Turn;
  }

  /** A turn of the framework. `compacts`: it summarises the history before. */
  async here(text: string, compacts = false): Promise<Turn> {
    const model = new ScriptedModel([`answer to ${text}`]);
    const summarizer = new LlmSummarizer({ llm: new ScriptedModel(['SUM']) });
    const limits = { tokenThreshold: 1, eventRetentionSize: 1, summarizer };
    const contextCompactors = compacts ? [new TokenBasedContextCompactor(limits)] : [];
    const agent = new LlmAgent({ name: 'root', model, instruction: 'Talk.', contextCompactors });
    const sessionService = asAdkService(this.service);
    const runner = new Runner({ appName: key.appName, agent, sessionService });
    const newMessage = { role: 'user', parts: [{ text }] };
    let invocationId = '';
    for await (const event of runner.runAsync({ ...key, newMessage })) {
      assert.equal(event.errorMessage, undefined);
      invocationId = event.invocationId;
    }
    const [{ contents = [] } = {}] = model.requests;
    const parts = contents.flatMap(({ parts = [] }) => parts);
    return { texts: parts.map(({ text = '' }) => text), invocationId };
  }
}

/** Tests the views of both languages over a database that both write. */
export function takeTurns(title: string, start: () => NewDatabase): void {
  describe(`Python and TypeScript by turns on ${title}`, { timeout: 240_000 }, () => {
    const newDatabase = start();
    let python: PythonProcess;
    before(() => {
      python = startPython('conversation.py');
    });
    after(() => python.end());

    async function converse(talk: (conversation: Conversation) => Promise<void>): Promise<void> {
      const urls = await newDatabase();
      assert.equal(await python.ask(['open', urls.python]), 'null');
      const service = new DatabaseSessionService(urls.ours);
      try {
        await talk(new Conversation(service, python));
      } finally {
        await service.close();
      }
    }

    it('what Python has rewound never reaches the model here', async () => {
      await converse(async (talk) => {
        await talk.inPython('green tea?');
        const { invocationId } = await talk.inPython('SECRET question');
        await python.ask(['rewind', invocationId]);
        const { texts } = await talk.here('black tea?');
        assert.deepEqual(texts, ['green tea?', 'answer to green tea?', 'black tea?']);
        assert.deepEqual((await talk.inPython('oolong?')).texts, [
          ...texts,
          'answer to black tea?',
          'oolong?',
        ]);
      });
    });

    it('what was rewound here never reaches the model in Python, and comes back if that is undone', async () => {
      await converse(async (talk) => {
        await talk.here('green tea?');
        const { invocationId } = await talk.here('SECRET question');
        await rewind(talk.service, { ...key, before: { invocationId } });
        const { texts } = await talk.inPython('black tea?');
        assert.deepEqual(texts, ['green tea?', 'answer to green tea?', 'black tea?']);
        await undoRewind(talk.service, key);
        const again = [
          ...['green tea?', 'answer to green tea?', 'SECRET question', 'answer to SECRET question'],
        ];
        assert.deepEqual((await talk.here('oolong?')).texts, [...again, 'oolong?']);
        const last = await talk.inPython('mate?');
        assert.deepEqual(last.texts, [...again, 'oolong?', 'answer to oolong?', 'mate?']);
      });
    });

    it('a rewind here of a session that Python created gives the state of a rewind in Python', async () => {
      /** Rewinds the second turn, and then the first one. Returns the state after each rewind. */
      const states = async (rewindTo: (talk: Conversation, turn: Turn) => Promise<unknown>) => {
        const states: object[] = [];
        await converse(async (talk) => {
          const turns = [await talk.inPython('green tea?'), await talk.inPython('hot?')];
          for (const turn of turns.toReversed()) {
            await rewindTo(talk, turn);
            states.push((await talk.service.getSession(key))!.state);
          }
        });
        return states;
      };
      const unknown: string[][] = [];
      const here = await states(async ({ service }, { invocationId }) => {
        unknown.push((await rewind(service, { ...key, before: { invocationId } })).unknownKeys);
      });
      const inPython = await states((_, { invocationId }) => python.ask(['rewind', invocationId]));
      // Python creates the session with the key `initial`, and each turn writes `last`.
      const last = 'answer to green tea?';
      assert.deepEqual(here, [{ initial: 1, last }, { initial: 1 }]);
      assert.deepEqual(unknown, [[], ['last']]);
      // Python's rewind puts `null` in place of what no remaining event has written.
      assert.deepEqual(inPython, [
        { initial: null, last },
        { initial: null, last: null },
      ]);
    });

    it('what Python has summarised reaches the model here as its summary', async () => {
      await converse(async (talk) => {
        await talk.inPython('green tea?');
        await talk.inPython('black tea?', true);
        const { texts } = await talk.here('oolong?');
        assert.deepEqual(texts, ['SUM', 'oolong?']);
        const next = await talk.here('mate?');
        assert.deepEqual(next.texts, ['SUM', 'oolong?', 'answer to oolong?', 'mate?']);
        assert.deepEqual((await talk.inPython('rooibos?')).texts, [
          ...next.texts,
          'answer to mate?',
          'rooibos?',
        ]);
      });
    });

    it('a rewind to before a summary of Python brings the turns back', async () => {
      await converse(async (talk) => {
        await talk.inPython('green tea?');
        await talk.inPython('black tea?', true);
        const { events = [] } = (await talk.service.getSession(key)) ?? {};
        const { invocationId } = events.at(-1)!;
        await rewind(talk.service, { ...key, before: { invocationId } });
        const { texts } = await talk.here('oolong?');
        assert.deepEqual(texts, [
          ...[
            'green tea?',
            'answer to green tea?',
            'black tea?',
            'answer to black tea?',
            'oolong?',
          ],
        ]);
        assert.deepEqual((await talk.inPython('mate?')).texts, [
          ...texts,
          'answer to oolong?',
          'mate?',
        ]);
      });
    });

    it('a branch that Python has left is listed here, and Python continues it after the switch', async () => {
      await converse(async (talk) => {
        await talk.inPython('green tea?');
        const first = await talk.inPython('hot?');
        await python.ask(['rewind', first.invocationId]);
        const second = await talk.inPython('cold?');
        const [turn] = await branches(talk.service, key);
        const invocations = turn?.alternatives.map(({ invocationId }) => invocationId);
        assert.deepEqual(invocations, [first.invocationId, second.invocationId]);
        await switchBranch(talk.service, { ...key, branch: turn!.alternatives[0]!.branch! });
        const before = ['green tea?', 'answer to green tea?', 'hot?', 'answer to hot?'];
        assert.deepEqual((await talk.inPython('sweet?')).texts, [...before, 'sweet?']);
        const last = await talk.here('milk?');
        assert.deepEqual(last.texts, [...before, 'sweet?', 'answer to sweet?', 'milk?']);
      });
    });

    it('Python switches between branches that were left here', async () => {
      await converse(async (talk) => {
        await talk.here('green tea?');
        const first = await talk.here('hot?');
        const { event: ended } = await rewind(talk.service, {
          ...key,
          before: { invocationId: first.invocationId },
        });
        await talk.here('cold?');
        // For Python a switch is a rewind to before the marker.
        await python.ask(['rewind', ended.invocationId]);
        const before = ['green tea?', 'answer to green tea?', 'hot?', 'answer to hot?'];
        assert.deepEqual((await talk.here('sweet?')).texts, [...before, 'sweet?']);
        const last = await talk.inPython('milk?');
        assert.deepEqual(last.texts, [...before, 'sweet?', 'answer to sweet?', 'milk?']);
        const [turn] = await branches(talk.service, key);
        assert.deepEqual(
          turn?.alternatives.map(({ isShown }) => isShown),
          [true, false],
        );
      });
    });

    it('what was summarised here reaches the model in Python whole, and its summary besides', async () => {
      await converse(async (talk) => {
        await talk.here('green tea?');
        assert.deepEqual((await talk.here('black tea?', true)).texts, [
          '[Previous Context Summary]:\nSUM',
          'black tea?',
        ]);
        const { texts } = await talk.inPython('oolong?');
        assert.match(texts[4]!, /^\[system\] said:[^]*SUM/);
        assert.deepEqual(texts.toSpliced(3, 2), [
          ...[
            'green tea?',
            'answer to green tea?',
            'black tea?',
            'answer to black tea?',
            'oolong?',
          ],
        ]);
        assert.deepEqual((await talk.here('mate?')).texts, [
          ...['[Previous Context Summary]:\nSUM', 'black tea?', 'answer to black tea?'],
          ...['oolong?', 'answer to oolong?', 'mate?'],
        ]);
      });
    });

    it('a rewind in Python to before a summary that was made here brings the turns back', async () => {
      await converse(async (talk) => {
        await talk.here('green tea?');
        const { invocationId } = await talk.here('black tea?', true);
        await python.ask(['rewind', invocationId]);
        const texts = ['green tea?', 'answer to green tea?', 'oolong?'];
        assert.deepEqual((await talk.here('oolong?')).texts, texts);
        assert.deepEqual((await talk.inPython('mate?')).texts, [
          ...texts,
          'answer to oolong?',
          'mate?',
        ]);
      });
    });
  });
}
