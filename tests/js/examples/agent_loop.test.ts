import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, it } from 'node:test';

import { httpServer } from '../../http_server.js';
import type { Model, Tool } from '../../../examples/agent_loop.js';
import { geminiModel } from '../../../examples/gemini_model.js';
import { recommendTea, scriptedModel } from '../../../examples/tea_shop.js';
import { type Content, InMemorySessionService } from '../../../js/index.js';
import { root } from '../../toolchain/environment.mjs';

const key = { appName: 'tea', userId: 'ada', sessionId: 'one' };

interface Asked {
  instruction: string;
  contents: Content[];
}

/** The model, and its requests. */
function listening(model: Model): { model: Model; requests: Asked[] } {
  const requests: Asked[] = [];
  return {
    requests,
    model(instruction, contents, tools) {
      requests.push(structuredClone({ instruction, contents }));
      return model(instruction, contents, tools);
    },
  };
}

describe('The example of an agent loop', () => {
  it('runs the requested tool, and sends its response to the model', async () => {
    const service = new InMemorySessionService();
    const { model, requests } = listening(scriptedModel);
    await recommendTea(service, key, model, 'Something mild');
    const [asked, again] = requests.map(({ contents }) =>
      contents.flatMap(({ parts = [] }) => parts),
    );
    assert.deepEqual(asked, [{ text: 'Something mild' }]);
    assert.deepEqual(again, [
      { text: 'Something mild' },
      { functionCall: { id: 'call-1', name: 'remember_taste', args: { taste: 'mild' } } },
      { functionResponse: { id: 'call-1', name: 'remember_taste', response: { kept: 'mild' } } },
    ]);
  });

  it("renders each agent's instruction with the current state", async () => {
    const { model, requests } = listening(scriptedModel);
    await recommendTea(new InMemorySessionService(), key, model, 'Something mild');
    assert.deepEqual(
      requests.map(({ instruction }) => instruction),
      [
        'Recommend a tea, in one word. The guest likes: ',
        'Recommend a tea, in one word. The guest likes: mild',
        'Offer the guest, who likes it mild, this tea: rooibos',
      ],
    );
  });

  it('stores lasting keys, and passes others on as temp:', async () => {
    const service = new InMemorySessionService();
    const offer = await recommendTea(service, key, scriptedModel, 'Something mild');
    const { state, events } = (await service.getSession(key))!;
    assert.deepEqual({ ...state }, { 'user:taste': 'mild', offer });
    assert.equal(JSON.stringify(events).includes('temp:'), false);
    const { model, requests } = listening(scriptedModel);
    await recommendTea(service, { ...key, sessionId: 'two' }, model, 'And to drink cold');
    assert.match(requests[0]!.instruction, /likes: mild$/);
  });

  it('reports a missing tool to the model', async () => {
    const replies: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'brew' } }] },
      { role: 'model', parts: [{ text: 'assam' }] },
      { role: 'model', parts: [{ text: 'Take the assam.' }] },
    ];
    const { model, requests } = listening(async () => replies.shift()!);
    const offer = await recommendTea(new InMemorySessionService(), key, model, 'Anything');
    assert.equal(offer, 'Take the assam.');
    assert.deepEqual(requests[1]!.contents.at(-1)?.parts, [
      { functionResponse: { name: 'brew', response: { error: 'There is no tool brew.' } } },
    ]);
  });

  it('leaves no temp: state behind when the model fails', async () => {
    const service = new InMemorySessionService();
    const failing: Model = (instruction, contents, tools) => {
      if (tools.length === 0) throw new Error('overloaded');
      return scriptedModel(instruction, contents, tools);
    };
    await assert.rejects(recommendTea(service, key, failing, 'Something mild'), /overloaded/);
    assert.deepEqual({ ...(await service.getSession(key))!.state }, { 'user:taste': 'mild' });
  });
});

describe('The example in a terminal', () => {
  it('answers the message of its command line, and prints the state', () => {
    const env = { ...process.env };
    delete env.GEMINI_API_KEY;
    const program = join(root, 'examples/tea_shop_program.ts');
    const run = spawnSync(process.execPath, ['--import', 'tsx', program, 'Something', 'cold'], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    assert.equal(run.stderr, '');
    assert.match(run.stdout, /who likes it cold, this tea: rooibos/);
    assert.match(run.stdout, /'user:taste': 'cold'/);
  });
});

describe('The Gemini model of the examples', () => {
  /** Answers as Google's endpoint does. The chunks of its text end anywhere. */
  async function withEndpoint(
    answer: { status: number; text: string },
    run: (origin: string, asked: { url?: string; key?: unknown; body?: unknown }) => Promise<void>,
  ): Promise<void> {
    const asked: { url?: string; key?: unknown; body?: unknown } = {};
    const server = httpServer((request, response) => {
      void json(request).then(async (body) => {
        Object.assign(asked, { url: request.url, key: request.headers['x-goog-api-key'], body });
        response.writeHead(answer.status, { 'content-type': 'text/event-stream' });
        for (const chunk of answer.text.match(/[^]{1,50}/g) ?? []) {
          response.write(chunk);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  /** A streamed answer with these parts, one after the other. */
  const stream = (...parts: object[]): string =>
    parts
      .map((part) =>
        JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] } }] }),
      )
      .map((data) => `data: ${data}\r\n\r\n`)
      .join('');

  const contents = [{ role: 'user', parts: [{ text: 'Hello!' }] }];
  const tools: Tool[] = [{ declaration: { name: 'brew', description: 'Brews.' }, run: () => ({}) }];

  it('sends instruction, contents and declarations, without the key in the URL', async () => {
    const call = { functionCall: { name: 'brew', args: {} } };
    const text = stream(
      { text: 'A guest.', thought: true },
      { text: 'Hello ' },
      { text: 'to you.' },
      call,
    );
    await withEndpoint({ status: 200, text }, async (origin, asked) => {
      const pieces: string[] = [];
      const model = geminiModel('secret', 'gemini-x', origin);
      const content = await model('Be kind.', contents, tools, (piece) => pieces.push(piece));
      assert.deepEqual(content, {
        role: 'model',
        parts: [{ text: 'A guest.', thought: true }, { text: 'Hello to you.' }, call],
      });
      assert.deepEqual(pieces, ['Hello ', 'to you.']);
      assert.deepEqual(asked, {
        url: '/v1beta/models/gemini-x:streamGenerateContent?alt=sse',
        key: 'secret',
        body: {
          systemInstruction: { parts: [{ text: 'Be kind.' }] },
          contents,
          tools: [{ functionDeclarations: [{ name: 'brew', description: 'Brews.' }] }],
        },
      });
    });
  });

  it("fails with the endpoint's message", async () => {
    const error = JSON.stringify({ error: { message: 'quota' } });
    const late = `${stream({ text: 'Hello' })}data: ${error}\r\n\r\n`;
    for (const [status, text, message] of [
      [429, error, /gemini-x answered 429: .*quota/],
      [200, late, /gemini-x failed: .*quota/],
      [200, ': nothing\n\n', /gemini-x answered without content/],
    ] as const) {
      await withEndpoint({ status, text }, async (origin) => {
        const model = geminiModel('secret', 'gemini-x', origin);
        await assert.rejects(async () => model('Be kind.', contents, tools), message);
      });
    }
  });
});
