// What an editor suggests and shows, asked of the compiler's own language service.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** `/*name*\/` marks a position. */
const PROGRAM = `
import { z } from 'zod';
import { InMemorySessionService, State } from '../../../js/index.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const stateSchema = { topic: z.string(), 'user:visits': z.number() };
export const service = new InMemorySessionService({ stateSchema });
export const session = service.createSessionSync(key);
session.state./*member*/topic;
await service.listSessions({ ...key, stateKeys: ['/*listed*/'] });
new State<{ topic: string }>().get('/*key*/');
await service.appendEvent({ session, event: { invocationId: 'e1', /*field*/ } });
const appended = await service.appendEvent({ session, event: { invocationId: 'e1', rating: 5 } });
appended./*appended*/rating;
await service.getSession({ ...key, config: { /*config*/ } });
for await (const notice of service.watch(key)) if (notice.type === 'appended') notice./*notice*/type;
service./*method*/close;
`;

const folder = dirname(fileURLToPath(import.meta.url));
const file = join(folder, 'editor_program.ts');

function languageService(): ts.LanguageService {
  const root = join(folder, '../../..');
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const read = (path: string): string | undefined =>
    path === file ? PROGRAM : ts.sys.readFile(path);
  return ts.createLanguageService({
    getCompilationSettings: () => ({ ...options, types: ['node'] }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
    directoryExists: (path) => ts.sys.directoryExists(path),
    getDirectories: (path) => ts.sys.getDirectories(path),
  });
}

describe('An editor', () => {
  const editor = languageService();

  const suggestions = (mark: string): string[] => {
    const position = PROGRAM.indexOf(`/*${mark}*/`) + mark.length + 4;
    const found = editor.getCompletionsAtPosition(file, position, {});
    return (found?.entries ?? []).map(({ name }) => name);
  };

  for (const [mark, names] of Object.entries({
    member: ['topic'],
    listed: ['topic', 'user:visits'],
    key: ['topic'],
    field: ['id', 'timestamp', 'actions', 'author', 'content'],
    appended: ['id', 'timestamp', 'actions', 'rating'],
    config: ['numRecentEvents', 'afterTimestamp', 'skipCorrupt'],
    notice: ['revision', 'scopes', 'sessionId'],
    method: ['appendEvent', 'createSessionSync', 'revisionOf', 'watch'],
  })) {
    it(`suggests ${names.join(', ')} (${mark})`, () => {
      const found = suggestions(mark);
      assert.deepEqual(
        names.filter((name) => !found.includes(name)),
        [],
        `it suggests ${found.join(', ')}`,
      );
    });
  }

  it('suggests no internals', () => {
    const internals = ['calls', 'core', 'create', 'get', 'list', 'take', 'openStorage'];
    const found = suggestions('method');
    assert.deepEqual(
      internals.filter((name) => found.includes(name)),
      [],
    );
  });

  it('shows types that can be read', () => {
    const shown = (name: string): string => {
      const position = PROGRAM.indexOf(` ${name} =`) + 1;
      const info = editor.getQuickInfoAtPosition(file, position);
      return ts.displayPartsToString(info?.displayParts).replaceAll(/\s+/g, ' ');
    };
    const state = "{ topic: string; 'user:visits': number; }";
    assert.equal(shown('service'), `const service: InMemorySessionService<${state}>`);
    assert.equal(shown('session'), `const session: Session<${state}>`);
  });
});
